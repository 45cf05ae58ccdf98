// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that the table has no semantics of: elementary functions, and elementwise operations, reductions
// and named kernels of foreign dialects. Their interfaces give the scalar code, which runs once for each
// element, or the operations that define them.

#include "Accumulation.h"
#include "Interpreter.h"
#include "Movement.h"
#include "Scalars/Arithmetic.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

using EmitCode = llvm::function_ref<Value(OpBuilder &, ValueRange)>;

static uint64_t bitsAt(const Tensor &x, int64_t element) {
  uint64_t bits = 0;
  int64_t size = sizeInBytes(x.getType());
  std::memcpy(&bits, x.bytes() + element * size, size);
  return bits;
}

static void setBitsAt(Tensor &x, int64_t element, uint64_t bits) {
  int64_t size = sizeInBytes(x.getType());
  std::memcpy(x.bytes() + element * size, &bits, size);
}

static void evaluate(const ScalarEvaluator &function, ArrayRef<Tensor> operands, Tensor &result) {
  SmallVector<uint64_t> arguments(operands.size());
  for (int64_t element = 0, count = result.getNumElements(); element < count; ++element) {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      argument = bitsAt(operand, element);
    setBitsAt(result, element, function(arguments));
  }
}

/// Executes scalar code once for each element of operands of one shape.
static int32_t executeCode(Operation *op, EmitCode emit, Frame &frame, ArrayRef<Tensor> operands,
                           Tensor &result) {
  Block code;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&code);
  for (Value operand : op->getOperands())
    code.addArgument(getElementTypeOrSelf(operand.getType()), op->getLoc());
  Value value = emit(builder, code.getArguments());
  std::optional<ElementType> type = value ? elementTypeOf(value.getType()) : std::nullopt;
  if (!type)
    return frame.refuse(op, "has scalar code without a value that the reference interpreter knows");
  func::ReturnOp::create(builder, op->getLoc(), value);
  result = Tensor(*type, operands.front().getShape());
  Frame scalars(frame.run);
  for (int64_t element = 0, count = result.getNumElements(); element < count; ++element) {
    SmallVector<Tensor> arguments, yielded;
    for (const Tensor &operand : operands)
      arguments.push_back(gather(operand, {}, element, {}));
    if (int32_t status = scalars.runBlock(code, arguments, yielded))
      return status;
    scatter(result, yielded.front(), element, {});
  }
  return ADRT_OK;
}

int32_t mlir::ad::reference::runElementwise(ElementwiseOpInterface op, Frame &frame) {
  SmallVector<Tensor> operands;
  if (int32_t status = broadcastOperands(op, frame, operands))
    return status;
  std::optional<ElementType> type = elementTypeOf(op->getResult(0).getType());
  if (operands.empty() || !type)
    return frame.refuse(op, "expected operands, and elements that the reference interpreter knows");
  Tensor result(*type, operands.front().getShape());
  auto emit = [&](OpBuilder &builder, ValueRange scalars) {
    return op.emitScalar(builder, op->getLoc(), scalars);
  };
  if (ScalarEvaluator function = op.getScalarEvaluator())
    evaluate(function, operands, result);
  else if (int32_t status = executeCode(op, emit, frame, operands, result))
    return status;
  return frame.set(op->getResult(0), result);
}

//===- Named kernels ---------------------------------------------------===//

// An observer sees the operation, not what it consists of: a compiled kernel shows no more.
int32_t mlir::ad::reference::runNamedKernel(NamedKernelOpInterface op, Frame &frame) {
  llvm::SaveAndRestore<int64_t> deeper(frame.run.kernelDepth, frame.run.kernelDepth + 1);
  if (frame.run.kernelDepth > kMaxNamedKernelDepth)
    return frame.refuse(op, kNamedKernelDepthError);
  Block code;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&code);
  FailureOr<SmallVector<Value>> built = decomposeNamedKernel(op, builder);
  if (failed(built))
    return ADRT_PROGRAM_ERROR;
  func::ReturnOp::create(builder, op->getLoc(), *built);
  SmallVector<Tensor> values;
  if (int32_t status = frame.runBlock(code, {}, values))
    return status;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    frame.set(result, value);
  return ADRT_OK;
}

//===- Reductions ------------------------------------------------------===//

static Reduction kindOf(Combiner combiner) {
  switch (combiner) {
  case Combiner::sum:
    return Reduction::Sum;
  case Combiner::product:
    return Reduction::Product;
  case Combiner::maximum:
    return Reduction::Maximum;
  case Combiner::minimum:
    return Reduction::Minimum;
  }
  return Reduction::Sum;
}

/// Whether each index is a loop or 0.
static bool accessesLoops(AffineMap map) {
  return map && llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
}

/// Calls back with the axis of the tensor and the loop that it belongs to.
static void forEachLoop(AffineMap map, llvm::function_ref<void(int64_t axis, unsigned loop)> callback) {
  for (auto [axis, index] : llvm::enumerate(map.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(index))
      callback(static_cast<int64_t>(axis), loop.getPosition());
}

/// The distance in elements from one iteration of each loop to the next.
static Shape stridesAlongLoops(AffineMap map, ArrayRef<int64_t> shape) {
  Shape strides(map.getNumDims()), own = stridesOf(shape);
  forEachLoop(map, [&](int64_t axis, unsigned loop) { strides[loop] += own[axis]; });
  return strides;
}

/// The number of iterations of each loop.
static int32_t loopExtents(Operation *op, Frame &frame, ArrayRef<AffineMap> maps, Shape &extents) {
  int32_t status = ADRT_OK;
  extents.assign(maps.front().getNumDims(), -1);
  for (auto [operand, map] : llvm::zip(op->getOperands(), maps)) {
    const Tensor &tensor = frame[operand];
    forEachLoop(map, [&](int64_t axis, unsigned loop) {
      int64_t size = tensor.getDim(axis);
      if (extents[loop] >= 0 && extents[loop] != size && status == ADRT_OK)
        status = frame.fail(op, ADRT_FAIL_SAME_SIZE, {axis, extents[loop], size});
      extents[loop] = size;
    });
  }
  if (status == ADRT_OK && llvm::is_contained(extents, -1))
    return frame.refuse(op, "has a loop whose size no operand gives");
  return status ? status : frame.checkMemory(op, ElementType::F64, extents);
}

/// The values of all iterations, in the accumulator's type and the order of the loops.
static int32_t iterationValues(ReductionOpInterface op, Frame &frame, ArrayRef<AffineMap> maps,
                               ArrayRef<int64_t> extents, Tensor &values) {
  SmallVector<Tensor> operands;
  for (auto [operand, map] : llvm::zip(op->getOperands(), maps)) {
    const Tensor &tensor = frame[operand];
    operands.push_back(gather(tensor, extents, 0, stridesAlongLoops(map, tensor.getShape())));
  }
  auto emit = [&](OpBuilder &builder, ValueRange scalars) {
    return op.emitElement(builder, op->getLoc(), scalars);
  };
  if (int32_t status = executeCode(op, emit, frame, operands, values))
    return status;
  ElementType given = operands.front().getType();
  Combiner combiner = op.getCombiner();
  bool selects = combiner == Combiner::maximum || combiner == Combiner::minimum;
  values = convert(values, selects ? reference::computeType(given) : reference::accumulatorType(given));
  return ADRT_OK;
}

static Shape reducedLoops(FusableOpInterface op) {
  Shape loops;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypes()))
    if (kind == utils::IteratorType::reduction)
      loops.push_back(static_cast<int64_t>(loop));
  return loops;
}

int32_t mlir::ad::reference::runReduction(ReductionOpInterface op, Frame &frame) {
  auto nest = dyn_cast<FusableOpInterface>(op.getOperation());
  auto numerics = dyn_cast<NumericsOpInterface>(op.getOperation());
  std::optional<ElementType> type = elementTypeOf(op->getResult(0).getType());
  OrderAttr order = numerics ? orderOf(numerics) : OrderAttr();
  SmallVector<AffineMap> maps = nest ? nest.getAccessMaps() : SmallVector<AffineMap>();
  if (!type || !order || maps.size() != op->getNumOperands() + 1 || !llvm::all_of(maps, accessesLoops))
    return frame.refuse(op, "expected loops, accesses by loops, and a summation order");
  Shape extents;
  if (int32_t status = loopExtents(op, frame, maps, extents))
    return status;
  Tensor values;
  if (int32_t status = iterationValues(op, frame, maps, extents, values))
    return status;
  Tensor reduced = reduce(kindOf(op.getCombiner()), values, reducedLoops(nest), order);
  Shape shape(maps.back().getNumResults(), 1);
  forEachLoop(maps.back(), [&](int64_t axis, unsigned loop) { shape[axis] = extents[loop]; });
  Tensor result(*type, shape);
  scatter(result, convert(reduced, *type), 0, stridesAlongLoops(maps.back(), shape));
  return frame.set(op->getResult(0), result);
}
