// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Texts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <charconv>

using namespace mlir;
using namespace mlir::ad;

static std::string sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

std::string print::listOf(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + sizeText(size);
  return "[" + text + "]";
}

static ArrayRef<int64_t> sizesOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

std::string print::shapeOf(Value tensor) { return listOf(sizesOf(tensor)); }

static std::string count(ArrayRef<int64_t> sizes) {
  return ShapedType::isDynamicShape(sizes) ? "?" : std::to_string(ShapedType::getNumElements(sizes));
}

// The fewest digits that give back the number, laid out as Python does: 1.0, -0.01, 1e-05.
template <typename Float> static std::string shortest(Float value) {
  char text[64];
  auto scientific = std::to_chars(text, std::end(text), value, std::chars_format::scientific);
  StringRef digits(text, scientific.ptr - text), power = digits.rsplit('e').second;
  power.consume_front("+");
  int exponent = 0;
  if (power.getAsInteger(10, exponent) || exponent < -4 || exponent >= 16)
    return digits.str(); // also inf and nan
  auto fixed = std::to_chars(text, std::end(text), value, std::chars_format::fixed);
  std::string result(text, fixed.ptr);
  return result.find('.') == std::string::npos ? result + ".0" : result;
}

static std::string numberText(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return llvm::toString(integer.getValue(), 10, /*Signed=*/!integer.getType().isInteger(1));
  APFloat number = cast<FloatAttr>(value).getValue();
  if (&number.getSemantics() == &APFloat::IEEEdouble())
    return shortest(number.convertToDouble());
  bool lossy;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lossy);
  return shortest(number.convertToFloat());
}

std::optional<std::string> print::literalOf(Operation *op) {
  auto constant = dyn_cast_if_present<ConstantOp>(op);
  if (!constant || !constant.getValue().isSplat())
    return std::nullopt;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense ? std::optional<std::string>(numberText(dense.getSplatValue<Attribute>())) : std::nullopt;
}

static std::string nameOf(Operation *op) {
  StringRef mnemonic = op->getName().stripDialect();
  if (isa<MulOp>(op))
    return "MULT";
  mnemonic.consume_front("reduce_");
  return mnemonic.upper();
}

static std::string describeDot(DotOp dot) {
  std::string text = "Dot Prod " + print::shapeOf(dot.getLhs()) + " x " + print::shapeOf(dot.getRhs());
  if (!dot.getLhsBatch().empty())
    text += " batch " + print::listOf(dot.getLhsBatch()) + " x " + print::listOf(dot.getRhsBatch());
  if (sizesOf(dot.getLhs()).size() != 2 || dot.getLhsContract() != ArrayRef<int64_t>{1} ||
      dot.getRhsContract() != ArrayRef<int64_t>{0})
    text += " contract " + print::listOf(dot.getLhsContract()) + " x " + print::listOf(dot.getRhsContract());
  return text;
}

template <typename ReduceOp> static std::string describeReduction(ReduceOp op) {
  ArrayRef<int64_t> input = sizesOf(op.getInput());
  SmallVector<int64_t> reduced, kept;
  for (auto [axis, size] : llvm::enumerate(input))
    (llvm::is_contained(op.getAxes(), axis) ? reduced : kept).push_back(size);
  bool last = op.getAxes().size() == 1 && op.getAxes().front() + 1 == static_cast<int64_t>(input.size());
  std::string axes = last ? "-1" : print::listOf(op.getAxes());
  return nameOf(op) + " on dim: " + axes + " (Vec/X: " + count(kept) + ", Reduce/Y: " + count(reduced) + ")";
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
  return "Broadcast from " + print::listOf(from) + " to " + print::listOf(to);
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

static std::string boundText(Value index) {
  std::optional<int64_t> bound = getConstantIntValue(index);
  return bound ? std::to_string(*bound) : "?";
}

static std::string describeFor(scf::ForOp loop) {
  std::string text = "For " + boundText(loop.getLowerBound()) + " to " + boundText(loop.getUpperBound());
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
  return text + " (" + count(sizesOf(op->getResult(0))) + ")";
}

std::string print::describe(Operation *op, bool inPlace) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](ConstantOp constant) {
        return "Const(val: " + literalOf(constant).value_or("dense") +
               ", dim: " + shapeOf(constant.getResult()) + ")";
      })
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
