// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests and ordered writes, iteration by iteration as their interfaces define them.

#include "Accumulation.h"
#include "LinalgLoops.h"
#include "Scalars/IndexExpressions.h"
#include "Scalars/ScalarValues.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

namespace {
//===- Scalar code -----------------------------------------------------===//

/// Code that an operation builds once and that runs for each iteration.
class ScalarProgram {
public:
  using Build = llvm::function_ref<SmallVector<Value>(OpBuilder &, ValueRange arguments)>;

  ScalarProgram(Operation *op, ArrayRef<Type> arguments, Build build) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&code);
    for (Type type : arguments)
      code.addArgument(type, op->getLoc());
    SmallVector<Value> values = build(builder, code.getArguments());
    for (Value value : values)
      isKnown &= value && elementTypeOf(value.getType());
    for (Operation &made : code)
      isKnown &= succeeded(mlir::verify(&made));
    func::ReturnOp::create(builder, op->getLoc(), isKnown ? ValueRange(values) : ValueRange());
  }

  bool isValid() const { return isKnown; }
  SmallVector<Type> types() { return llvm::to_vector(code.getTerminator()->getOperandTypes()); }
  int32_t run(Frame &frame, ArrayRef<Tensor> arguments, SmallVectorImpl<Tensor> &values) {
    return frame.runBlock(code, arguments, values);
  }

private:
  Block code;
  bool isKnown = true;
};

//===- Accesses --------------------------------------------------------===//

/// The loops of an operation, and the elements that an iteration accesses.
class NestEvaluation {
public:
  NestEvaluation(Operation *op, Frame &frame, SmallVector<ElementAccess> accesses)
      : op(op), frame(frame), accesses(std::move(accesses)) {
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(frame[operand.get()]);
  }

  /// Runs the code that computes the sizes of the loops.
  int32_t bind(size_t loops, ArrayRef<AffineMap> resultMaps,
               llvm::function_ref<SmallVector<OpFoldResult>(OpBuilder &)> sizesOf) {
    Block code;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&code);
    SmallVector<OpFoldResult> sizes = sizesOf(builder);
    if (failed(verifyLoopSizes(op, sizes, loops, resultMaps)))
      return ADRT_PROGRAM_ERROR;
    SmallVector<Value> computed;
    for (OpFoldResult size : sizes)
      if (auto value = dyn_cast<Value>(size))
        computed.push_back(value);
    func::ReturnOp::create(builder, op->getLoc(), computed);
    SmallVector<Tensor> values;
    if (int32_t status = frame.runBlock(code, {}, values))
      return status;
    const Tensor *next = values.begin();
    for (OpFoldResult size : sizes)
      extents.push_back(isa<Value>(size) ? (next++)->asIndex()
                                         : cast<IntegerAttr>(cast<Attribute>(size)).getInt());
    for (auto [loop, extent] : llvm::enumerate(extents))
      if (extent < 0)
        return frame.fail(op, ADRT_FAIL_NEGATIVE, {static_cast<int64_t>(loop), extent});
    return ADRT_OK;
  }

  /// Compares the sizes of the tensors with those of the loops, then tests every access of every iteration,
  /// operand by operand: the first one outside of its tensor is the error.
  int32_t checkAccesses() {
    for (OpOperand &operand : op->getOpOperands())
      if (int32_t status = isTensor(operand) ? checkSizes(operand) : ADRT_OK)
        return status;
    // An access with indices that a tensor holds reads these first.
    for (bool isIndexed : {false, true})
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isTensor(operand) || accessOf(operand).indexOperands.empty() == isIndexed)
          continue;
        int32_t status =
            forEachIndex(extents, [&](ArrayRef<int64_t> loops) { return checkInside(operand, loops); });
        if (status)
          return status;
      }
    return ADRT_OK;
  }

  /// The position of the element in its tensor; nullopt where the access is outside and means a value or
  /// nothing.
  std::optional<int64_t> offsetOf(OpOperand &operand, ArrayRef<int64_t> loops) const {
    const Tensor &tensor = operands[operand.getOperandNumber()];
    const ElementAccess &access = accessOf(operand);
    int64_t offset = 0;
    for (auto [axis, index] : llvm::enumerate(indicesOf(access, loops))) {
      int64_t size = tensor.getDim(static_cast<int64_t>(axis)), inside = index;
      if (inside < 0 || inside >= size) {
        if (access.outOfRange != OutOfRange::clamp)
          return std::nullopt;
        inside = inside < 0 ? 0 : size - 1;
      }
      offset = offset * size + inside;
    }
    return offset;
  }

  /// The element of each operand, then the number of the iteration along each loop.
  SmallVector<Tensor> scalarsAt(ArrayRef<int64_t> loops) const {
    SmallVector<Tensor> scalars;
    for (OpOperand &operand : op->getOpOperands())
      scalars.push_back(isTensor(operand) ? elementAt(operand, loops) : operands[operand.getOperandNumber()]);
    for (int64_t loop : loops)
      scalars.push_back(Tensor::index(loop));
    return scalars;
  }

  /// The types of these.
  SmallVector<Type> scalarTypes() const {
    SmallVector<Type> types;
    for (Type type : op->getOperandTypes())
      types.push_back(getElementTypeOrSelf(type));
    types.append(extents.size(), IndexType::get(op->getContext()));
    return types;
  }

  Shape extents;

private:
  static bool isTensor(OpOperand &operand) { return isa<RankedTensorType>(operand.get().getType()); }

  const ElementAccess &accessOf(OpOperand &operand) const {
    return accesses[tensorNumber(op, operand.getOperandNumber())];
  }

  SmallVector<int64_t> indicesOf(const ElementAccess &access, ArrayRef<int64_t> loops) const {
    SmallVector<int64_t> symbols;
    for (unsigned number : access.indexOperands) {
      OpOperand &operand = op->getOpOperand(number);
      Tensor element = isTensor(operand) ? elementAt(operand, loops) : operands[number];
      Type type = getElementTypeOrSelf(operand.get().getType());
      APInt index = integerOf(element, type);
      symbols.push_back(type.isInteger(1) ? index.getZExtValue() : index.getSExtValue());
    }
    return llvm::map_to_vector(access.map.getResults(),
                               [&](AffineExpr index) { return *evaluateIndex(index, loops, symbols); });
  }

  Tensor elementAt(OpOperand &operand, ArrayRef<int64_t> loops) const {
    if (std::optional<int64_t> offset = offsetOf(operand, loops))
      return gather(operands[operand.getOperandNumber()], {}, *offset, {});
    TypedAttr padding = accessOf(operand).padding;
    auto number = dyn_cast<FloatAttr>(padding);
    APInt bits = number ? number.getValue().bitcastToAPInt() : cast<IntegerAttr>(padding).getValue();
    return withBits(operands[operand.getOperandNumber()].getType(), bits.getZExtValue());
  }

  /// An axis that one loop runs over has its size.
  int32_t checkSizes(OpOperand &operand) {
    const ElementAccess &access = accessOf(operand);
    for (auto [axis, index] : llvm::enumerate(access.map.getResults())) {
      if (!access.isWholeAxis(axis))
        continue;
      int64_t extent = extents[cast<AffineDimExpr>(index).getPosition()];
      int64_t size = operands[operand.getOperandNumber()].getDim(static_cast<int64_t>(axis));
      if (extent != size)
        return frame.fail(op, ADRT_FAIL_SAME_SIZE, {static_cast<int64_t>(axis), extent, size});
    }
    return ADRT_OK;
  }

  int32_t checkInside(OpOperand &operand, ArrayRef<int64_t> loops) {
    const ElementAccess &access = accessOf(operand);
    for (auto [axis, index] : llvm::enumerate(indicesOf(access, loops))) {
      int64_t number = static_cast<int64_t>(axis), size = operands[operand.getOperandNumber()].getDim(number);
      if (access.outOfRange == OutOfRange::clamp && size == 0)
        return frame.fail(op, ADRT_FAIL_BOUNDS, {number, 0, 0});
      if (access.outOfRange == OutOfRange::error && (index < 0 || index >= size))
        return frame.fail(op, ADRT_FAIL_BOUNDS, {number, index, size});
    }
    return ADRT_OK;
  }

  Operation *op;
  Frame &frame;
  SmallVector<ElementAccess> accesses;
  SmallVector<Tensor> operands;
};

//===- Loop nests ------------------------------------------------------===//

/// Values of accumulators.
using Tuple = SmallVector<Tensor>;

class NestRunner {
public:
  NestRunner(LoopNestOpInterface op, Frame &frame)
      : op(op), frame(frame), nest(op, frame, op.getAccesses()), kinds(op.getLoops()), scalars(frame.run) {}

  int32_t run() {
    auto sizes = [&](OpBuilder &builder) { return op.getLoopSizes(builder); };
    if (int32_t status = nest.bind(kinds.size(), op.getResultMaps(), sizes))
      return status;
    for (auto [loop, kind] : llvm::enumerate(kinds)) {
      bool isReduced = kind == utils::IteratorType::reduction;
      (isReduced ? reduced : parallel).push_back(static_cast<int64_t>(loop));
      (isReduced ? reducedExtents : parallelExtents).push_back(nest.extents[loop]);
    }
    if (int32_t status = makeResults())
      return status;
    if (int32_t status = nest.checkAccesses())
      return status;
    if (int32_t status = runPoints())
      return status;
    for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
      frame.set(result, tensor);
    return ADRT_OK;
  }

private:
  int32_t makeResults() {
    for (auto [result, map] : llvm::zip_equal(op->getResults(), op.getResultMaps())) {
      std::optional<ElementType> element = elementTypeOf(result.getType());
      if (!element)
        return frame.refuse(op, "has elements that the reference interpreter does not know");
      Shape shape = llvm::map_to_vector(map.getResults(), [&](AffineExpr index) {
        return nest.extents[cast<AffineDimExpr>(index).getPosition()];
      });
      for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape()))
        if (!ShapedType::isDynamic(size) && size != shape[axis])
          return frame.fail(op, ADRT_FAIL_SAME_SIZE, {static_cast<int64_t>(axis), size, shape[axis]});
      if (int32_t status = frame.checkMemory(op, *element, shape))
        return status;
      results.emplace_back(*element, shape);
    }
    return ADRT_OK;
  }

  int32_t runPoints() {
    Location loc = op->getLoc();
    ScalarProgram element(op, nest.scalarTypes(), [&](OpBuilder &builder, ValueRange arguments) {
      size_t operands = op->getNumOperands();
      return op.emitElement(builder, loc, arguments.take_front(operands), arguments.drop_front(operands));
    });
    ScalarProgram neutral(op, {},
                          [&](OpBuilder &builder, ValueRange) { return op.emitNeutral(builder, loc); });
    SmallVector<Type> types = reduced.empty() ? element.types() : neutral.types(), twice(types);
    llvm::append_range(twice, types);
    ScalarProgram combine(
        op, reduced.empty() ? SmallVector<Type>() : twice, [&](OpBuilder &builder, ValueRange both) {
          return reduced.empty() ? SmallVector<Value>()
                                 : op.emitCombine(builder, loc, both.take_front(types.size()),
                                                  both.drop_front(types.size()));
        });
    ScalarProgram finish(op, types, [&](OpBuilder &builder, ValueRange accumulators) {
      return reduced.empty() ? llvm::to_vector(accumulators) : op.emitResults(builder, loc, accumulators);
    });
    bool isRight = element.isValid() && neutral.isValid() && combine.isValid() && finish.isValid() &&
                   TypeRange(element.types()) == TypeRange(types) &&
                   (reduced.empty() || TypeRange(combine.types()) == TypeRange(types)) &&
                   llvm::equal(finish.types(), op->getResultTypes(), [](Type scalar, Type tensor) {
                     return scalar == getElementTypeOrSelf(tensor);
                   });
    if (!isRight)
      return frame.refuse(op, "has scalar code with other values than its accumulators and results");
    return forEachIndex(parallelExtents, [&](ArrayRef<int64_t> point) -> int32_t {
      Shape loops(nest.extents.size());
      for (auto [loop, index] : llvm::zip_equal(parallel, point))
        loops[loop] = index;
      Tuple values, elements;
      int32_t status = reduced.empty() ? element.run(scalars, nest.scalarsAt(loops), values)
                                       : reduce(element, neutral, combine, loops, values);
      if (!status)
        status = finish.run(scalars, values, elements);
      if (!status)
        write(loops, elements);
      return status;
    });
  }

  /// All iterations of one point, in the order of the operation; without one in a chain.
  int32_t reduce(ScalarProgram &element, ScalarProgram &neutral, ScalarProgram &combine, Shape loops,
                 Tuple &total) {
    int32_t status = neutral.run(scalars, {}, total);
    auto join = [&](const Tuple &left, const Tuple &right) {
      Tuple both(left), values;
      llvm::append_range(both, right);
      if (!status)
        status = combine.run(scalars, both, values);
      return status ? left : values;
    };
    auto step = [&](const Tuple &sum, int64_t iteration) {
      for (auto [loop, extent] : llvm::reverse(llvm::zip_equal(reduced, reducedExtents))) {
        loops[loop] = iteration % extent;
        iteration /= extent;
      }
      Tuple value;
      if (!status)
        status = element.run(scalars, nest.scalarsAt(loops), value);
      return status ? sum : join(sum, value);
    };
    auto numerics = dyn_cast<NumericsOpInterface>(op.getOperation());
    OrderAttr order = numerics ? orderOf(numerics) : OrderAttr();
    if (order && total.size() != 1)
      return frame.refuse(op, kChainsOnly);
    int64_t count = product(reducedExtents);
    if (order) {
      total = accumulate(order, count, total, step, join);
      return status;
    }
    for (int64_t iteration = 0; iteration < count; ++iteration)
      total = step(total, iteration);
    return status;
  }

  void write(ArrayRef<int64_t> loops, ArrayRef<Tensor> elements) {
    for (auto [number, map] : llvm::enumerate(op.getResultMaps())) {
      int64_t offset = 0;
      for (auto [axis, index] : llvm::enumerate(map.getResults()))
        offset = offset * results[number].getDim(static_cast<int64_t>(axis)) +
                 loops[cast<AffineDimExpr>(index).getPosition()];
      scatter(results[number], elements[number], offset, {});
    }
  }

  LoopNestOpInterface op;
  Frame &frame;
  NestEvaluation nest;
  SmallVector<utils::IteratorType> kinds;
  Frame scalars;
  SmallVector<int64_t> parallel, reduced;
  Shape parallelExtents, reducedExtents;
  SmallVector<Tensor> results;
};
} // namespace

int32_t mlir::ad::reference::runLoopNest(LoopNestOpInterface op, Frame &frame) {
  return NestRunner(op, frame).run();
}

//===- Ordered writes --------------------------------------------------===//

namespace {
class WriteRunner {
public:
  WriteRunner(OrderedWriteOpInterface op, Frame &frame)
      : op(op), frame(frame), nest(op, frame, op.getAccesses()), destination(op.getDestination()),
        old(frame[op->getOperand(destination)]), scalars(frame.run) {}

  int32_t run() {
    auto sizes = [&](OpBuilder &builder) { return op.getLoopSizes(builder); };
    if (int32_t status = nest.bind(op.getLoopCount(), {}, sizes))
      return status;
    if (int32_t status = nest.checkAccesses())
      return status;
    ScalarProgram start(op, getElementTypeOrSelf(op->getResult(0)),
                        [&](OpBuilder &builder, ValueRange element) {
                          return SmallVector<Value>{op.emitStart(builder, op->getLoc(), element[0])};
                        });
    if (!start.isValid())
      return frame.refuse(op, "has an accumulator that the reference interpreter does not know");
    return runFrom(start, start.types()[0]);
  }

private:
  int32_t runFrom(ScalarProgram &start, Type accumulator) {
    SmallVector<Type> types = nest.scalarTypes();
    types[destination] = accumulator;
    size_t operands = op->getNumOperands();
    ScalarProgram update(op, types, [&](OpBuilder &builder, ValueRange arguments) {
      return SmallVector<Value>{op.emitUpdate(builder, op->getLoc(), arguments.take_front(operands),
                                              arguments.drop_front(operands))};
    });
    ScalarProgram finish(op, accumulator, [&](OpBuilder &builder, ValueRange last) {
      return SmallVector<Value>{op.emitResult(builder, op->getLoc(), last[0])};
    });
    if (!update.isValid() || update.types()[0] != accumulator || !finish.isValid() ||
        finish.types()[0] != getElementTypeOrSelf(op->getResult(0)))
      return frame.refuse(op, "has scalar code with other values than its accumulator and its result");
    Tensor accumulators(*elementTypeOf(accumulator), old.getShape()), result(old.getType(), old.getShape());
    int32_t status = convert(start, old, accumulators);
    if (!status)
      status = writeAll(update, accumulators);
    if (!status)
      status = convert(finish, accumulators, result);
    return status ? status : frame.set(op->getResult(0), result);
  }

  /// Iteration by iteration, the last loop fastest.
  int32_t writeAll(ScalarProgram &update, Tensor &accumulators) {
    OpOperand &target = op->getOpOperand(destination);
    return forEachIndex(nest.extents, [&](ArrayRef<int64_t> loops) -> int32_t {
      std::optional<int64_t> offset = nest.offsetOf(target, loops);
      if (!offset)
        return ADRT_OK;
      SmallVector<Tensor> arguments = nest.scalarsAt(loops), value;
      arguments[destination] = gather(accumulators, {}, *offset, {});
      if (int32_t status = update.run(scalars, arguments, value))
        return status;
      scatter(accumulators, value.front(), *offset, {});
      return ADRT_OK;
    });
  }

  /// Each element on its own.
  int32_t convert(ScalarProgram &code, const Tensor &from, Tensor &to) {
    for (int64_t offset = 0, count = from.getNumElements(); offset < count; ++offset) {
      SmallVector<Tensor> value;
      if (int32_t status = code.run(scalars, gather(from, {}, offset, {}), value))
        return status;
      scatter(to, value.front(), offset, {});
    }
    return ADRT_OK;
  }

  OrderedWriteOpInterface op;
  Frame &frame;
  NestEvaluation nest;
  unsigned destination;
  const Tensor old;
  Frame scalars;
};
} // namespace

int32_t mlir::ad::reference::runOrderedWrite(OrderedWriteOpInterface op, Frame &frame) {
  return WriteRunner(op, frame).run();
}
