// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "OperationTexts.h"
#include "Texts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::print;

static std::string nameOf(Operation *op) {
  StringRef mnemonic = op->getName().stripDialect();
  if (isa<MulOp>(op))
    return "MULT";
  mnemonic.consume_front("reduce_");
  return mnemonic.upper();
}

static std::string batchAxes(DotOp dot) {
  return dot.getLhsBatch().empty()
             ? ""
             : " batch " + listOf(dot.getLhsBatch()) + " x " + listOf(dot.getRhsBatch());
}
static std::string contractedAxes(DotOp dot) {
  return " contract " + listOf(dot.getLhsContract()) + " x " + listOf(dot.getRhsContract());
}

static std::string describeDot(DotOp dot) {
  bool isPlain = sizesOf(dot.getLhs()).size() == 2 && dot.getLhsContract() == ArrayRef<int64_t>{1} &&
                 dot.getRhsContract() == ArrayRef<int64_t>{0};
  return "Dot Prod " + shapeOf(dot.getLhs()) + " x " + shapeOf(dot.getRhs()) + batchAxes(dot) +
         (isPlain ? "" : contractedAxes(dot));
}

template <typename ReduceOp> static std::string describeReduction(ReduceOp op) {
  ArrayRef<int64_t> input = sizesOf(op.getInput());
  SmallVector<int64_t> reduced, kept;
  for (auto [axis, size] : llvm::enumerate(input))
    (llvm::is_contained(op.getAxes(), axis) ? reduced : kept).push_back(size);
  bool last = op.getAxes().size() == 1 && op.getAxes().front() + 1 == static_cast<int64_t>(input.size());
  std::string axes = last ? "-1" : listOf(op.getAxes());
  return nameOf(op) + " on dim: " + axes + " (Vec/X: " + countText(kept) +
         ", Reduce/Y: " + countText(reduced) + ")";
}

static std::string describeBroadcast(BroadcastOp op) {
  ArrayRef<int64_t> from = sizesOf(op.getInput()), to = sizesOf(op.getResult());
  SmallVector<int64_t> repeated;
  if (from.size() == to.size())
    for (auto [axis, size] : llvm::enumerate(from))
      if (size != to[axis])
        repeated.push_back(axis);
  if (repeated.size() == 1)
    return "Broadcast dim " + std::to_string(repeated.front()) + " to size " + sizeText(to[repeated.front()]);
  return "Broadcast from " + listOf(from) + " to " + listOf(to);
}

static std::string describeSlice(SliceOp op) {
  ArrayRef<int64_t> from = sizesOf(op.getInput()), to = sizesOf(op.getResult());
  std::string text;
  for (auto [axis, offset, stride] : llvm::enumerate(op.getOffsets(), op.getStrides())) {
    if (from[axis] == to[axis] && stride == 1)
      continue;
    int64_t end = ShapedType::isDynamic(to[axis]) ? to[axis] : offset + (to[axis] - 1) * stride + 1;
    text += (text.empty() ? "Index dim: " : ", dim: ") + std::to_string(axis) + " from " +
            std::to_string(offset) + " to " + sizeText(end) +
            (stride == 1 ? "" : " step " + std::to_string(stride));
  }
  return text.empty() ? "Index" : text;
}

static std::string describeFor(scf::ForOp loop) {
  std::string text = loop.getUnsignedCmp() ? "For unsigned " : "For ";
  text += boundText(loop.getLowerBound()) + " to " + boundText(loop.getUpperBound());
  std::string step = boundText(loop.getStep());
  return text + (step == "1" ? "" : " step " + step) + ":";
}

// The name and the number of elements.
static std::string describeAny(Operation *op, bool inPlace) {
  std::string text = nameOf(op) + (inPlace ? " IN PLACE" : "");
  if (op->getNumRegions() > 0)
    return text + ":";
  if (auto compare = dyn_cast<CompareOp>(op))
    text += " " + stringifyEnum(compare.getPredicate()).str();
  if (op->getNumResults() == 0 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return text;
  return text + " (" + countText(sizesOf(op->getResult(0))) + ")";
}

static std::string describeConstant(Operation *op) {
  return "Const(val: " + literalOf(op).value_or("dense") + ", dim: " + shapeOf(op->getResult(0)) + ")";
}

std::string print::describe(Operation *op, bool inPlace) {
  if (op->hasTrait<OpTrait::ConstantLike>() && isa<RankedTensorType>(op->getResult(0).getType()))
    return describeConstant(op);
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](DotOp dot) { return describeDot(dot); })
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp, ReduceMeanOp>(
          [](auto reduction) { return describeReduction(reduction); })
      .Case([](BroadcastOp broadcast) { return describeBroadcast(broadcast); })
      .Case([](ReshapeOp view) {
        return "View from " + shapeOf(view.getInput()) + " to " + shapeOf(view.getResult());
      })
      .Case([](TransposeOp transpose) { return "Permute " + listOf(transpose.getPermutation()); })
      .Case([](SliceOp slice) { return describeSlice(slice); })
      .Case([](ConcatOp concat) { return "Concat at dim: " + std::to_string(concat.getAxis()); })
      .Case([](FeedOp feed) {
        return "Feeder \"" + feed.getName().str() + "\" (dim: " + shapeOf(feed.getResult()) + ")";
      })
      .Case([](ReceiveOp receive) { return "Receiver \"" + receive.getName().str() + "\""; })
      .Case([](scf::ForOp loop) { return describeFor(loop); })
      .Default([&](Operation *other) { return describeAny(other, inPlace); });
}

std::optional<std::string> print::axesOf(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  return dot ? std::optional(batchAxes(dot) + contractedAxes(dot)) : std::nullopt;
}

std::optional<Steps> print::stepsOf(Operation *op) {
  auto slice = dyn_cast_if_present<SliceOp>(op);
  return slice ? std::optional(Steps{slice.getOffsets(), slice.getStrides()}) : std::nullopt;
}

std::optional<Concatenation> print::concatenationOf(Operation *op) {
  auto concat = dyn_cast_if_present<ConcatOp>(op);
  return concat ? std::optional(Concatenation{concat.getInputs(), int64_t(concat.getAxis())}) : std::nullopt;
}
