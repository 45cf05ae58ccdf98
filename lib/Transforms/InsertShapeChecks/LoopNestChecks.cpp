// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Indices that follow from sizes are compared by the host. For indices that a tensor holds, a kernel that is
// never compiled reads the same elements by tensor.extract, and is tested as kernels of other compilers are.

#include "LoopNestChecks.h"
#include "ConditionWriter.h"
#include "IndexBoundsChecks.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Dialect/AD/Transforms/LoopNestCode.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static SmallVector<ElementAccess> accessesOf(Operation *op) {
  if (auto nest = dyn_cast<LoopNestOpInterface>(op))
    return nest.getAccesses();
  return cast<OrderedWriteOpInterface>(op).getAccesses();
}

static SmallVector<OpFoldResult> loopSizesOf(Operation *op, OpBuilder &builder) {
  if (auto nest = dyn_cast<LoopNestOpInterface>(op))
    return nest.getLoopSizes(builder);
  return cast<OrderedWriteOpInterface>(op).getLoopSizes(builder);
}

namespace {
class LoopNestChecks {
public:
  explicit LoopNestChecks(Operation *op) : op(op), write(op), accesses(accessesOf(op)) {}

  LogicalResult run() {
    SmallVector<OpFoldResult> given = loopSizesOf(op, write.builder);
    auto nest = dyn_cast<LoopNestOpInterface>(op);
    size_t loops = nest ? nest.getLoops().size() : cast<OrderedWriteOpInterface>(op).getLoopCount();
    if (failed(verifyLoopSizes(op, given, loops, nest ? nest.getResultMaps() : SmallVector<AffineMap>())))
      return failure();
    for (auto [loop, size] : llvm::enumerate(given))
      requireSize(loop, size);
    if (nest)
      requireResultSizes(nest);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        requireAxes(operand);
    bool isSearched =
        llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) { return mayLeave(operand); });
    return isSearched ? search() : success();
  }

private:
  const ElementAccess &accessOf(OpOperand &operand) const {
    return accesses[tensorNumber(op, operand.getOperandNumber())];
  }

  void requireSize(int64_t loop, OpFoldResult size) {
    extents.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto computed = dyn_cast<Value>(size);
    sizes.push_back(computed ? computed : write.constant(extents.back()));
    if (extents.back() < 0 && !sizes.back().getDefiningOp<tensor::DimOp>())
      write.require(ADRT_FAIL_NEGATIVE,
                    write.compare(arith::CmpIPredicate::sge, sizes.back(), write.constant(0)),
                    {write.constant(loop), sizes.back()});
  }

  /// Loops of computed sizes over axes of static ones.
  void requireResultSizes(LoopNestOpInterface nest) {
    for (auto [result, map] : llvm::zip_equal(op->getResults(), nest.getResultMaps()))
      for (auto [axis, index] : llvm::enumerate(map.getResults())) {
        unsigned loop = cast<AffineDimExpr>(index).getPosition();
        int64_t expected = ConditionWriter::type(result).getDimSize(axis);
        if (ShapedType::isDynamic(expected) || extents[loop] == expected)
          continue;
        write.require(ADRT_FAIL_SAME_SIZE, write.equal(write.constant(expected), sizes[loop]),
                      {write.constant(axis), write.constant(expected), sizes[loop]});
      }
  }

  /// Whether the size of the loop was read from an axis of the same size.
  bool isSizeOf(Value size, Value tensor, int64_t axis) {
    auto dim = size.getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> from = dim ? dim.getConstantIndex() : std::nullopt;
    return from && haveSameSize(dim.getSource(), *from, tensor, axis);
  }

  Value isEmpty() {
    Value empty = write.builder.createOrFold<arith::ConstantIntOp>(write.loc, 0, 1);
    for (Value size : sizes)
      empty = write.either(empty, write.equal(size, write.constant(0)));
    return empty;
  }

  void requireAxes(OpOperand &operand) {
    const ElementAccess &access = accessOf(operand);
    for (auto [axis, index] : llvm::enumerate(access.map.getResults())) {
      if (access.isWholeAxis(axis)) {
        requireSizeOf(cast<AffineDimExpr>(index).getPosition(), operand.get(), axis);
        continue;
      }
      if (access.outOfRange != OutOfRange::clamp || ConditionWriter::type(operand.get()).getDimSize(axis) > 0)
        continue;
      Value size = write.size(operand.get(), axis);
      Value fits = write.either(isEmpty(), write.compare(arith::CmpIPredicate::sgt, size, write.constant(0)));
      write.require(ADRT_FAIL_BOUNDS, fits, {write.constant(axis), write.constant(0), size});
    }
  }

  void requireSizeOf(unsigned loop, Value tensor, int64_t axis) {
    if (isSizeOf(sizes[loop], tensor, axis))
      return;
    Value expected = sizes[loop], actual = write.size(tensor, axis);
    write.require(ADRT_FAIL_SAME_SIZE, write.equal(expected, actual),
                  {write.constant(axis), expected, actual});
  }

  /// Whether an index outside is an error that sizes do not exclude.
  bool mayLeave(OpOperand &operand) const {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || accessOf(operand).outOfRange != OutOfRange::error)
      return false;
    const ElementAccess &access = accessOf(operand);
    return llvm::any_of(llvm::enumerate(access.map.getResults()), [&](auto index) {
      return !isa<AffineDimExpr>(index.value()) && !isSurelyInside(access, type, index.index(), extents);
    });
  }

  /// A kernel with the reads of the operation, and its launch, which are erased when their conditions are
  /// written.
  LogicalResult search() {
    Location loc = rememberWritten(op);
    OpBuilder detached(op->getContext());
    auto type = detached.getFunctionType(op->getOperandTypes(), {});
    auto name = detached.getStringAttr("accesses");
    OperationState state(loc, KernelOp::getOperationName());
    state.addAttribute(KernelOp::getSymNameAttrName(state.name), name);
    state.addAttribute(KernelOp::getFunctionTypeAttrName(state.name), TypeAttr::get(type));
    state.addAttribute(KernelOp::getKernelClassAttrName(state.name), detached.getStringAttr(kGenericClass));
    state.addRegion()->emplaceBlock().addArguments(op->getOperandTypes(),
                                                   SmallVector<Location>(op->getNumOperands(), loc));
    OwningOpRef<KernelOp> kernel = cast<KernelOp>(detached.create(state));
    Block &body = kernel->getBody().front();
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    linalg::GenericOp reads = writeReads(inside, body, loc);
    YieldOp::create(inside, loc, ValueRange());
    auto launch = LaunchOp::create(write.builder, loc, TypeRange(), FlatSymbolRefAttr::get(name),
                                   op->getOperands(), ValueRange(), ValueRange(), DenseI64ArrayAttr());
    LogicalResult tested = requireIndices(launch, *kernel, reads, checked);
    launch.erase();
    return tested;
  }

  linalg::GenericOp writeReads(OpBuilder &builder, Block &body, Location loc) {
    Operation *clone = builder.clone(*op);
    clone->setOperands(body.getArguments());
    SmallVector<OpFoldResult> loopSizes = loopSizesOf(clone, builder);
    auto ordered = dyn_cast<OrderedWriteOpInterface>(clone);
    NestOperands operands(clone, accesses, loopSizes, builder,
                          ordered ? int64_t(ordered.getDestination()) : -1);
    Value out = tensor::EmptyOp::create(builder, loc, loopSizes, builder.getI1Type());
    SmallVector<AffineMap> maps(operands.maps);
    maps.push_back(builder.getMultiDimIdentityMap(loopSizes.size()));
    SmallVector<utils::IteratorType> loops(loopSizes.size(), utils::IteratorType::parallel);
    auto reads = linalg::GenericOp::create(
        builder, loc, out.getType(), operands.inputs, out, maps, loops,
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          AccessCode code(nested, loc, operands.extents);
          SmallVector<Value> elements = operands.elements(code, arguments);
          if (ordered) {
            const ElementAccess &target = accesses[tensorNumber(op, ordered.getDestination())];
            tensor::ExtractOp::create(nested, loc, body.getArgument(ordered.getDestination()),
                                      code.indices(target, NestOperands::symbols(target, elements)));
          }
          linalg::YieldOp::create(nested, loc, arguments.back());
        });
    for (auto extract : reads.getOps<tensor::ExtractOp>()) {
      auto argument = cast<BlockArgument>(extract.getTensor());
      if (mayLeave(op->getOpOperand(argument.getArgNumber())))
        checked.push_back(extract);
    }
    // In the order in which the reference interpreter looks: operands with indices of other operands last.
    llvm::sort(checked, [&](tensor::ExtractOp a, tensor::ExtractOp b) { return rank(a) < rank(b); });
    clone->erase();
    return reads;
  }

  std::pair<bool, unsigned> rank(tensor::ExtractOp extract) const {
    unsigned operand = cast<BlockArgument>(extract.getTensor()).getArgNumber();
    return {!accessOf(op->getOpOperand(operand)).indexOperands.empty(), operand};
  }

  Operation *op;
  ConditionWriter write;
  SmallVector<ElementAccess> accesses;
  SmallVector<Value> sizes;     ///< of the loops
  SmallVector<int64_t> extents; ///< the same, ShapedType::kDynamic where it is not known when compiling
  SmallVector<tensor::ExtractOp> checked;
};
} // namespace

LogicalResult ad::requireAccesses(Operation *op) {
  return isa<LoopNestOpInterface, OrderedWriteOpInterface>(op) ? LoopNestChecks(op).run() : success();
}
