// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise code runs over the elements of its result (`Global`); contractions and reductions over rows
// (`X`) and columns (`Y`) of each operand.

#include "Access.h"
#include "Texts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::print;

// Expressions beyond this length help no reader; views of views can double them at each step.
static constexpr size_t kLongest = 400;
// Concatenations of concatenations that are followed.
static constexpr int kDeepest = 16;

static ArrayRef<int64_t> sizesOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

static std::string join(const std::string &lhs, const char *sign, const std::string &rhs) {
  std::string text = "(" + lhs + " " + sign + " " + rhs + ")";
  return text.size() > kLongest ? "..." : text;
}
static std::string sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }
static std::string times(const std::string &lhs, int64_t size) {
  return lhs == "0" || size == 1 ? lhs : join(lhs, "*", sizeText(size));
}
static std::string plus(const std::string &lhs, const std::string &rhs) {
  return lhs == "0" ? rhs : rhs == "0" ? lhs : join(lhs, "+", rhs);
}
static std::string over(const std::string &lhs, int64_t size) {
  return lhs == "0" || size == 1 ? lhs : join(lhs, "/", sizeText(size));
}
static std::string modulo(const std::string &lhs, int64_t size) {
  return lhs == "0" || size == 1 ? "0" : join(lhs, "%", sizeText(size));
}

static int64_t product(ArrayRef<int64_t> sizes) {
  return ShapedType::isDynamicShape(sizes) ? ShapedType::kDynamic : ShapedType::getNumElements(sizes);
}

using Indices = SmallVector<std::string>;

static std::string flatten(ArrayRef<std::string> indices, ArrayRef<int64_t> sizes) {
  std::string text = "0";
  for (auto [axis, index] : llvm::enumerate(indices))
    text = plus(text, times(index, product(sizes.drop_front(axis + 1))));
  return text;
}

static Indices unflatten(const std::string &index, ArrayRef<int64_t> sizes) {
  Indices indices;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    indices.push_back(modulo(over(index, product(sizes.drop_front(axis + 1))), sizes[axis]));
  return indices;
}

namespace {
/// The element of a tensor that is read.
struct Point {
  Indices indices;
  bool whole = false; ///< the tensor is read in its own order: the linear index is `Global`

  static Point elementwise(ArrayRef<int64_t> sizes) { return {unflatten("Global", sizes), true}; }
  static Point rows(ArrayRef<int64_t> sizes) {
    if (sizes.size() < 2)
      return {Indices(sizes.size(), "X"), false};
    Indices indices = sizes.size() == 2 ? Indices{"X"} : unflatten("X", sizes.drop_back());
    indices.push_back("Y");
    return {indices, false};
  }
  std::string text(ArrayRef<int64_t> sizes) const { return whole ? "Global" : flatten(indices, sizes); }
};
} // namespace

bool print::isFolded(Operation *op) {
  return isa_and_nonnull<ReshapeOp, BroadcastOp, TransposeOp, SliceOp, ConcatOp>(op);
}

// From the element of a broadcast result to that of the operand.
static Indices repeated(ArrayRef<std::string> indices, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Indices inner(indices.take_back(from.size()));
  for (auto [axis, index] : llvm::enumerate(inner))
    if (from[axis] == 1 && to[to.size() - from.size() + axis] != 1)
      index = "0";
  return inner;
}

static Indices sliced(SliceOp slice, ArrayRef<std::string> indices) {
  Indices inner;
  for (auto [index, offset, stride] : llvm::zip_equal(indices, slice.getOffsets(), slice.getStrides()))
    inner.push_back(plus(times(index, stride), std::to_string(offset)));
  return inner;
}

static Indices throughMovement(Operation *op, const Indices &indices) {
  ArrayRef<int64_t> from = sizesOf(op->getOperand(0)), to = sizesOf(op->getResult(0));
  return llvm::TypeSwitch<Operation *, Indices>(op)
      .Case([&](ReshapeOp) { return unflatten(flatten(indices, to), from); })
      .Case([&](BroadcastOp) { return repeated(indices, from, to); })
      .Case([&](TransposeOp transpose) {
        Indices inner(from.size());
        for (auto [axis, source] : llvm::enumerate(transpose.getPermutation()))
          inner[source] = indices[axis];
        return inner;
      })
      .Case([&](SliceOp slice) { return sliced(slice, indices); });
}

static std::string elementText(Value value, Point point, const Nodes &nodes, int depth = 0);

static std::string concatText(ConcatOp concat, const Point &point, const Nodes &nodes, int depth) {
  int64_t axis = concat.getAxis(), begin = 0;
  std::string text, closing;
  for (auto [number, input] : llvm::enumerate(concat.getInputs())) {
    Point inner = {point.indices, false};
    if (begin > 0)
      inner.indices[axis] = join(point.indices[axis], "-", sizeText(begin));
    std::string element = elementText(input, inner, nodes, depth + 1);
    int64_t size = sizesOf(input)[axis];
    begin = ShapedType::isDynamic(size) || ShapedType::isDynamic(begin) ? ShapedType::kDynamic : begin + size;
    if (number + 1 == concat.getInputs().size()) {
      text += element;
      break;
    }
    text += "KConcat(" + join(point.indices[axis], "<", sizeText(begin)) + " ? " + element + " : ";
    closing += ")";
  }
  return text + closing;
}

static std::string elementText(Value value, Point point, const Nodes &nodes, int depth) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto fusion = dyn_cast<FusionOp>(argument.getOwner()->getParentOp())) {
        value = fusion.getInputs()[argument.getArgNumber()];
        continue;
      }
    Operation *op = value.getDefiningOp();
    if (std::optional<std::string> number = literalOf(op))
      return *number;
    if (auto concat = dyn_cast_if_present<ConcatOp>(op); concat && depth < kDeepest)
      return concatText(concat, point, nodes, depth);
    if (!isFolded(op) || isa<ConcatOp>(op))
      break;
    point = {throughMovement(op, point.indices), false};
    value = op->getOperand(0);
  }
  return "Mat (id: " + nodes.id(nodes.place(value)) + ", " + point.text(sizesOf(value)) + ")";
}

static bool isElementwise(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::elementwise;
}
static bool runsOverRows(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && llvm::is_contained({FusionKind::dot, FusionKind::reduce}, fusable.getFusionKind());
}

std::string print::operandText(OpOperand &operand, const Nodes &nodes) {
  Operation *op = operand.getOwner();
  ArrayRef<int64_t> own = sizesOf(operand.get());
  if (runsOverRows(op))
    return elementText(operand.get(), Point::rows(own), nodes);
  if (!isElementwise(op))
    return wholeText(operand.get(), nodes);
  ArrayRef<int64_t> sizes = sizesOf(op->getResult(0));
  Point point = Point::elementwise(sizes);
  // Operands may still be smaller than the result, as NumPy allows.
  if (own != sizes)
    point = {repeated(point.indices, own, sizes), false};
  return elementText(operand.get(), point, nodes);
}

std::string print::wholeText(Value tensor, const Nodes &nodes) {
  Value node = nodes.place(tensor);
  return literalOf(node.getDefiningOp()).value_or("Mat (id: " + nodes.id(node) + ", Global)");
}

std::string print::movedText(Value tensor, const Nodes &nodes) {
  return elementText(tensor, Point::elementwise(sizesOf(tensor)), nodes);
}

std::string print::resultText(Value result, const Nodes &nodes) {
  Point point = Point::elementwise(sizesOf(result));
  Operation *op = result.getDefiningOp();
  if (op && runsOverRows(op))
    point = Point::rows(sizesOf(result));
  return "Mat (id: " + nodes.id(nodes.place(result)) + ", " + point.text(sizesOf(result)) + ")";
}
