// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise code runs over the elements of its result (`Global`); contractions and reductions over rows
// (`X`) and columns (`Y`) of each operand.

#include "Access.h"
#include "OperationTexts.h"
#include "Texts.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::print;

// The limit of an expression: views of views can double the length at each step.
static constexpr size_t kMaxLength = 400;
// The limit of nested concatenations.
static constexpr int kMaxDepth = 16;

static std::string join(const std::string &lhs, const char *sign, const std::string &rhs) {
  std::string text = "(" + lhs + " " + sign + " " + rhs + ")";
  return text.size() > kMaxLength ? "..." : text;
}
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
struct Position {
  Indices indices;
  bool whole = false; ///< the tensor is read in its own order: the linear index is `Global`

  static Position elementwise(ArrayRef<int64_t> sizes) { return {unflatten("Global", sizes), true}; }
  static Position rows(ArrayRef<int64_t> sizes) {
    if (sizes.size() < 2)
      return {Indices(sizes.size(), "X"), false};
    Indices indices = sizes.size() == 2 ? Indices{"X"} : unflatten("X", sizes.drop_back());
    indices.push_back("Y");
    return {indices, false};
  }
  std::string text(ArrayRef<int64_t> sizes) const { return whole ? "Global" : flatten(indices, sizes); }
};
} // namespace

static AffineMap accessOf(Operation *view) { return cast<FusableOpInterface>(view).getAccessMaps().front(); }

// The view of a tensor that an expression can follow; `none` for other operations.
static ViewKind foldedView(Operation *op) {
  ViewKind view = op ? viewKindOf(op) : ViewKind::none;
  bool follows = view == ViewKind::reshape || view == ViewKind::broadcast ||
                 (view == ViewKind::transpose && accessOf(op) && accessOf(op).isPermutation()) ||
                 (view == ViewKind::slice && stepsOf(op));
  return follows && isTensor(op->getOperand(0)) ? view : ViewKind::none;
}

bool print::isFolded(Operation *op) {
  return foldedView(op) != ViewKind::none || concatenationOf(op).has_value();
}

// From the element of a broadcast result to that of the operand.
static Indices repeated(ArrayRef<std::string> indices, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Indices inner(indices.take_back(from.size()));
  for (auto [axis, index] : llvm::enumerate(inner))
    if (from[axis] == 1 && to[to.size() - from.size() + axis] != 1)
      index = "0";
  return inner;
}

static Indices sliced(const Steps &steps, ArrayRef<std::string> indices) {
  Indices inner;
  for (auto [index, offset, stride] : llvm::zip_equal(indices, steps.offsets, steps.strides))
    inner.push_back(plus(times(index, stride), std::to_string(offset)));
  return inner;
}

static Indices permuted(AffineMap access, ArrayRef<std::string> indices) {
  return llvm::map_to_vector(
      access.getResults(), [&](AffineExpr loop) { return indices[cast<AffineDimExpr>(loop).getPosition()]; });
}

// The element of the operand, from the element of the view.
static Indices throughView(Operation *op, const Indices &indices) {
  ArrayRef<int64_t> from = sizesOf(op->getOperand(0)), to = sizesOf(op->getResult(0));
  switch (foldedView(op)) {
  case ViewKind::reshape:
    return unflatten(flatten(indices, to), from);
  case ViewKind::broadcast:
    return repeated(indices, from, to);
  case ViewKind::transpose:
    return permuted(accessOf(op), indices);
  default:
    return sliced(*stepsOf(op), indices);
  }
}

static std::string elementText(Value value, Position position, const Nodes &nodes, int depth = 0);

static std::string concatText(const Concatenation &concat, const Position &position, const Nodes &nodes,
                              int depth) {
  int64_t axis = concat.axis, begin = 0;
  std::string text, closing;
  for (auto [number, input] : llvm::enumerate(concat.inputs)) {
    Position inner = {position.indices, false};
    if (begin > 0)
      inner.indices[axis] = join(position.indices[axis], "-", sizeText(begin));
    std::string element = elementText(input, inner, nodes, depth + 1);
    int64_t size = sizesOf(input)[axis];
    begin = ShapedType::isDynamic(size) || ShapedType::isDynamic(begin) ? ShapedType::kDynamic : begin + size;
    if (number + 1 == concat.inputs.size()) {
      text += element;
      break;
    }
    text += "KConcat(" + join(position.indices[axis], "<", sizeText(begin)) + " ? " + element + " : ";
    closing += ")";
  }
  return text + closing;
}

static std::string elementText(Value value, Position position, const Nodes &nodes, int depth) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto fusion = dyn_cast<FusionOp>(argument.getOwner()->getParentOp())) {
        value = fusion.getInputs()[argument.getArgNumber()];
        continue;
      }
    Operation *op = value.getDefiningOp();
    if (std::optional<std::string> number = literalOf(op))
      return *number;
    if (std::optional<Concatenation> concat = concatenationOf(op); concat && depth < kMaxDepth)
      return concatText(*concat, position, nodes, depth);
    if (foldedView(op) == ViewKind::none)
      break;
    position = {throughView(op, position.indices), false};
    value = op->getOperand(0);
  }
  return "Mat (id: " + nodes.id(nodes.resolveUpdates(value)) + ", " + position.text(sizesOf(value)) + ")";
}

static bool runsOverRows(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && llvm::is_contained({FusionKind::dot, FusionKind::reduce}, fusable.getFusionKind());
}

std::string print::operandText(OpOperand &operand, const Nodes &nodes) {
  Operation *op = operand.getOwner();
  ArrayRef<int64_t> own = sizesOf(operand.get());
  if (runsOverRows(op))
    return elementText(operand.get(), Position::rows(own), nodes);
  if (!isElementwiseOp(op))
    return wholeText(operand.get(), nodes);
  ArrayRef<int64_t> sizes = sizesOf(op->getResult(0));
  Position position = Position::elementwise(sizes);
  // Operands may still be smaller than the result, as NumPy allows.
  if (own != sizes)
    position = {repeated(position.indices, own, sizes), false};
  return elementText(operand.get(), position, nodes);
}

std::string print::wholeText(Value tensor, const Nodes &nodes) {
  Value node = nodes.resolveUpdates(tensor);
  return literalOf(node.getDefiningOp()).value_or("Mat (id: " + nodes.id(node) + ", Global)");
}

std::string print::movedText(Value tensor, const Nodes &nodes) {
  return elementText(tensor, Position::elementwise(sizesOf(tensor)), nodes);
}

std::string print::resultText(Value result, const Nodes &nodes) {
  Position position = Position::elementwise(sizesOf(result));
  Operation *op = result.getDefiningOp();
  if (op && runsOverRows(op))
    position = Position::rows(sizesOf(result));
  return "Mat (id: " + nodes.id(nodes.resolveUpdates(result)) + ", " + position.text(sizesOf(result)) + ")";
}
