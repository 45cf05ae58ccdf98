// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions: verifiers, type inference, sizes and folds. A label such as argmax_c2 is C2 of ad.argmax
// in docs/spec/reduction.md, reduce_c2 that of all ad.reduce_*.

#include "../Elementwise.h"
#include "../ExactPattern.h"
#include "../Reduction.h"
#include "../ShapeUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::ad;

static SmallVector<int64_t> reducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes, bool keepDims) {
  SmallVector<int64_t> result;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
    if (!reduced || keepDims)
      result.push_back(reduced ? 1 : size);
  }
  return result;
}

static RankedTensorType reducedType(RankedTensorType type, ArrayRef<int64_t> axes, bool keepDims) {
  return RankedTensorType::get(reducedShape(type.getShape(), axes, keepDims), type.getElementType());
}

static LogicalResult inferReduction(std::optional<Location> location, StringRef name, Type input,
                                    ArrayRef<int64_t> axes, bool keepDims, SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(input);
  auto error = [&] { return inferenceError(location, name); };
  if (!type)
    return error() << "expected a ranked tensor";
  if (failed(verifyAxes(axes, type.getRank(), error))) // reduce_c1
    return failure();
  types.push_back(reducedType(type, axes, keepDims));
  return success();
}

// Sums, products and means may give the accumulator's type; a maximum is one of the elements.
template <typename Op> static LogicalResult verifyReduction(Op op) {
  constexpr bool selects = llvm::is_one_of<Op, ReduceMaxOp, ReduceMinOp>::value;
  RankedTensorType input = op.getInput().getType(), result = op.getType();
  if (failed(verifyAxes(op.getAxes(), input.getRank(), [&] { return op.emitOpError(); }))) // reduce_c1
    return failure();
  Type from = input.getElementType(), to = result.getElementType(), sum = accumulatorType(from);
  if (from != to && (selects || to != sum)) { // reduce_c2
    InFlightDiagnostic error = op.emitOpError("expected a result with elements of type ") << from;
    if (!selects && sum != from)
      error << " or " << sum;
    return error << ", but got " << to;
  }
  SmallVector<int64_t> shape = reducedShape(input.getShape(), op.getAxes(), op.getKeepDims());
  if (ArrayRef<int64_t>(shape) != result.getShape()) // reduce_c3
    return op.emitOpError("expected a result of shape ")
           << shapeToString(shape) << ", but got " << shapeToString(result.getShape());
  return success();
}

// Reductions keep the sizes of the axes that they do not reduce; with kept dimensions the others are 1.
static LogicalResult reifyReduction(OpBuilder &builder, Operation *op, ArrayRef<int64_t> axes,
                                    ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value input = op->getOperand(0);
  bool keepDims = type.getRank() == cast<RankedTensorType>(input.getType()).getRank();
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0, rank = cast<RankedTensorType>(input.getType()).getRank(); axis < rank; ++axis) {
    bool reduced = llvm::is_contained(axes, axis);
    if (!reduced)
      sizes.push_back(sizeOf(builder, op->getLoc(), input, axis));
    else if (keepDims)
      sizes.push_back(builder.getIndexAttr(1));
  }
  shapes.push_back(normalizeSizes(builder, op->getLoc(), type, sizes));
  return success();
}

static OrderAttr canonicalOrderOfReduction(TypedValue<RankedTensorType> input, ArrayRef<int64_t> axes) {
  bool innermost = !axes.empty() && axes.back() == input.getType().getRank() - 1;
  return innermost ? OrderAttr::canonicalLanes(input.getContext())
                   : OrderAttr::canonicalBlocks(input.getContext());
}

template <typename Op> static constexpr ReductionKind kindOf() {
  return std::is_same_v<Op, ReduceSumOp>    ? ReductionKind::sum
         : std::is_same_v<Op, ReduceProdOp> ? ReductionKind::product
         : std::is_same_v<Op, ReduceMaxOp>  ? ReductionKind::maximum
         : std::is_same_v<Op, ReduceMinOp>  ? ReductionKind::minimum
                                            : ReductionKind::mean;
}

// A reduction over no axes is its operand, except that the rounding to f8E5M2 saturates infinities.
template <typename Op> static OpFoldResult foldReduction(Op op, Attribute input) {
  if (op.getAxes().empty() && op.getInput().getType() == op.getType() &&
      keepsEveryValue(op.getType().getElementType()))
    return op.getInput();
  return evaluateReduction(kindOf<Op>(), input, op.getAxes(), op.getOrderAttr(), op.getType());
}

namespace {
// A reduction over no axes into the accumulator's type is an exact cast.
template <typename Op> struct ReplaceEmptyReductionByCast : ExactPattern<Op> {
  explicit ReplaceEmptyReductionByCast(MLIRContext *context)
      : ExactPattern<Op>(context, "replace-empty-reduction") {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getAxes().empty())
      return rewriter.notifyMatchFailure(op, "expected no axes");
    if (op.getInput().getType() == op.getType())
      return rewriter.notifyMatchFailure(op, "expected another element type");
    if (failed(this->requireAllowed(rewriter, op)))
      return failure();
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), op.getInput(), op.getAllowAttr());
    return success();
  }
};
} // namespace

static LogicalResult inferArgReduction(std::optional<Location> location, StringRef name, Type input,
                                       int64_t axis, SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(input);
  auto error = [&] { return inferenceError(location, name); };
  if (!type)
    return error() << "expected a ranked tensor";
  if (failed(verifyAxis(axis, type.getRank(), error))) // argmax_c1, argmin_c1
    return failure();
  if (type.getDimSize(axis) == 0) // argmax_c2, argmin_c2
    return error() << "expected elements along axis " << axis << ", but its size is 0";
  types.push_back(RankedTensorType::get(reducedShape(type.getShape(), axis, false),
                                        IntegerType::get(type.getContext(), 64)));
  return success();
}

static LogicalResult verifyRunning(Operation *op, int64_t axis) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  // cumsum_c1, cumprod_c1, cummax_c1, cummin_c1
  return verifyAxis(axis, rank, [&] { return op->emitOpError(); });
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADReductionOps.cpp.inc"

void ADDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADReductionOps.cpp.inc"
      >();
}
