// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels vectorize the last axis. One of few elements leaves most of a vector empty, unless all operands
// have all axes, so that their elements follow each other. Tiles of contractions have one axis for rows and
// one for columns.

#include "MergeAxes.h"
#include "AxisModels.h"
#include "FusionLoops.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "convert-ad-to-linalg"

using namespace mlir;
using namespace mlir::ad;

// Elements of some vectors.
static constexpr int64_t kShortAxis = 64;

static bool treatsAxesAlike(Operation &op) {
  return isa<ElementwiseOpInterface>(op) || repeatsOperand(op) || constantTensor(op);
}

namespace {
class AxisMerger {
public:
  explicit AxisMerger(FusionOp fusion)
      : fusion(fusion), body(fusion.getBody().front()), loops(body), isMerged(loops.count()) {
    auto product = llvm::find_if(body, isProductWithAxes);
    isContraction = product != body.end();
    space = isContraction ? product->getResult(0) : body.getTerminator()->getOperand(0);
  }

  FusionOp merge();

private:
  bool isDynamic(unsigned loop) const { return ShapedType::isDynamic(loops.sizeOf(loop)); }
  std::pair<Value, int64_t> inputAlong(unsigned loop);
  bool canMultiplySizes(ArrayRef<unsigned> group, unsigned loop);
  void chooseLoops();
  bool isWorthwhile() const;

  SmallVector<OpFoldResult> mergedSizes(OpBuilder &builder, Location loc, Value value,
                                        ArrayRef<OpFoldResult> sizes) const;
  Type mergedType(Value value) const;
  SmallVector<int64_t> mergedAxes(Value operand, ArrayRef<int64_t> axes) const;
  Value mergeInput(OpBuilder &builder, Value input, Value argument);
  Value splitResult(OpBuilder &builder, Value result, ArrayRef<unsigned> axes, RankedTensorType type);

  SmallVector<Value> mergedOpenSizes(OpBuilder &builder, Value value, ValueRange open) const;
  void rewriteConstant(Operation &op, DenseElementsAttr value) const;
  void rewriteBody() const;

  FusionOp fusion;
  Block &body;
  FusionLoops loops;
  llvm::BitVector isMerged; ///< loops that become one with the loop before
  bool isContraction;
  Value space; ///< a value that has all loops, but those over contracted axes
};
} // namespace

// An operand of the fusion with elements along the loop, and its axis there; null if there is none.
std::pair<Value, int64_t> AxisMerger::inputAlong(unsigned loop) {
  for (auto [input, argument] : llvm::zip_equal(fusion.getInputs(), body.getArguments()))
    if (auto type = dyn_cast<RankedTensorType>(input.getType()))
      for (auto [axis, number] : llvm::enumerate(loops.of(argument)))
        if (number == loop && type.getDimSize(axis) != 1)
          return {input, axis};
  return {};
}

// Whether the loop may be merged with the group. The memory plan compares the products of dynamic sizes of
// tensors, so a dynamic axis is not merged with a static one. Static sizes must have a product of 64 bits: in
// a tensor without elements they need not.
bool AxisMerger::canMultiplySizes(ArrayRef<unsigned> group, unsigned loop) {
  if (loops.sizeOf(loop) == 1)
    return true;
  int64_t product = loops.sizeOf(loop);
  return llvm::all_of(group, [&](unsigned before) {
    if (loops.sizeOf(before) == 1)
      return true;
    if (!isDynamic(before) && !isDynamic(loop))
      return !llvm::MulOverflow(product, loops.sizeOf(before), product);
    return isContraction && isDynamic(before) && isDynamic(loop) && inputAlong(before).first &&
           inputAlong(loop).first;
  });
}

void AxisMerger::chooseLoops() {
  SmallVector<unsigned> group;
  for (unsigned loop : loops.of(space)) {
    bool joins = !group.empty() && loops.canJoin(group, loop) && canMultiplySizes(group, loop);
    if (joins)
      isMerged.set(loop);
    else
      group.clear();
    group.push_back(loop);
  }
}

bool AxisMerger::isWorthwhile() const {
  if (isContraction)
    return isMerged.any();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(space.getType()).getShape();
  return !shape.empty() && !ShapedType::isDynamic(shape.back()) && shape.back() < kShortAxis &&
         isMerged[loops.of(space).back()] && llvm::all_of(body.without_terminator(), treatsAxesAlike) &&
         llvm::any_of(
             loops, [&](const auto &entry) { return loops.isRepeated(entry.first, loops.of(space)); });
}

SmallVector<OpFoldResult> AxisMerger::mergedSizes(OpBuilder &builder, Location loc, Value value,
                                                  ArrayRef<OpFoldResult> sizes) const {
  SmallVector<OpFoldResult> merged;
  for (auto [loop, size] : llvm::zip_equal(loops.of(value), sizes)) {
    if (isMerged[loop])
      merged.back() = mulSizes(builder, loc, merged.back(), size);
    else
      merged.push_back(size);
  }
  return merged;
}

Type AxisMerger::mergedType(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value.getType();
  SmallVector<int64_t> shape;
  for (auto [loop, size] : llvm::zip_equal(loops.of(value), type.getShape())) {
    if (!isMerged[loop])
      shape.push_back(size);
    else if (ShapedType::isDynamic(size) || ShapedType::isDynamic(shape.back()))
      shape.back() = ShapedType::kDynamic;
    else
      shape.back() *= size;
  }
  return type.clone(shape);
}

// Axes of an operand that begin a merged one, by their new numbers.
SmallVector<int64_t> AxisMerger::mergedAxes(Value operand, ArrayRef<int64_t> axes) const {
  ArrayRef<unsigned> numbers = loops.of(operand);
  SmallVector<int64_t> merged;
  for (int64_t axis : axes)
    if (!isMerged[numbers[axis]])
      merged.push_back(
          axis - llvm::count_if(numbers.take_front(axis), [&](unsigned loop) { return isMerged[loop]; }));
  return merged;
}

// Those of the sizes that the type leaves open, as operands of the operation that makes a tensor of it.
static SmallVector<Value> openSizes(OpBuilder &builder, Location loc, Type type,
                                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> open;
  for (auto [known, size] : llvm::zip_equal(cast<RankedTensorType>(type).getShape(), sizes))
    if (ShapedType::isDynamic(known))
      open.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return open;
}

// An operand that stays the same in a loop is reshaped before it.
Value AxisMerger::mergeInput(OpBuilder &builder, Value input, Value argument) {
  Type type = mergedType(argument);
  if (type == input.getType())
    return input;
  OpBuilder::InsertionGuard guard(builder);
  if (cast<RankedTensorType>(type).hasStaticShape())
    builder.setInsertionPointAfterValue(input);
  Location loc = fusion.getLoc();
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(input.getType()).getRank(); ++axis)
    sizes.push_back(sizeOf(builder, loc, input, axis));
  sizes = mergedSizes(builder, loc, argument, sizes);
  return reshapeTo(builder, loc, input, type, openSizes(builder, loc, type, sizes));
}

SmallVector<Value> AxisMerger::mergedOpenSizes(OpBuilder &builder, Value value, ValueRange open) const {
  Location loc = value.getLoc();
  SmallVector<OpFoldResult> sizes = mixedSizes(builder, cast<RankedTensorType>(value.getType()), open);
  return openSizes(builder, loc, mergedType(value), mergedSizes(builder, loc, value, sizes));
}

void AxisMerger::rewriteConstant(Operation &op, DenseElementsAttr value) const {
  OpBuilder builder(&op);
  Type type = mergedType(op.getResult(0));
  Operation *constant = op.getContext()->getLoadedDialect<ADDialect>()->materializeConstant(
      builder, value.reshape(cast<ShapedType>(type)), type, op.getLoc());
  op.replaceAllUsesWith(constant);
  op.erase();
}

// Operations read the types of their operands, so that new types come last.
void AxisMerger::rewriteBody() const {
  for (Operation &op : body.without_terminator())
    renumberAxes(
        op, [&](Value operand, ArrayRef<int64_t> axes) { return mergedAxes(operand, axes); },
        [&](OpBuilder &builder, Value value, ValueRange open) {
          return mergedOpenSizes(builder, value, open);
        });
  for (const auto &entry : loops) {
    Value value = entry.first;
    if (Operation *op = value.getDefiningOp(); op && constantTensor(*op))
      rewriteConstant(*op, constantTensor(*op));
    else
      value.setType(mergedType(value));
  }
}

Value AxisMerger::splitResult(OpBuilder &builder, Value result, ArrayRef<unsigned> axes,
                              RankedTensorType type) {
  if (result.getType() == type)
    return result;
  Location loc = fusion.getLoc();
  SmallVector<Value> open;
  int64_t merged = -1;
  for (auto [loop, size] : llvm::zip_equal(axes, type.getShape())) {
    merged += !isMerged[loop];
    if (!ShapedType::isDynamic(size))
      continue;
    auto [input, axis] = inputAlong(loop);
    OpFoldResult known = input ? sizeOf(builder, loc, input, axis) : sizeOf(builder, loc, result, merged);
    open.push_back(getValueOrCreateConstantIndexOp(builder, loc, known));
  }
  return reshapeTo(builder, loc, result, type, open);
}

FusionOp AxisMerger::merge() {
  chooseLoops();
  if (!isWorthwhile())
    return fusion;
  LDBG() << "axes of " << space.getType() << " are merged to " << mergedType(space);
  OpBuilder builder(fusion);
  SmallVector<Value> inputs;
  for (auto [input, argument] : llvm::zip_equal(fusion.getInputs(), body.getArguments()))
    inputs.push_back(mergeInput(builder, input, argument));
  SmallVector<ArrayRef<unsigned>> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(loops.of(value));
  rewriteBody();
  auto made = FusionOp::create(builder, fusion.getLoc(), TypeRange(body.getTerminator()->getOperandTypes()),
                               fusion.getKind(), inputs, fusion.getKernelAttr(), fusion.getOrderAttr(),
                               fusion.getAllowAttr());
  made.getBody().takeBody(fusion.getBody());
  for (auto [before, after, axes] : llvm::zip_equal(fusion.getResults(), made.getResults(), yielded))
    before.replaceAllUsesWith(splitResult(builder, after, axes, cast<RankedTensorType>(before.getType())));
  fusion.erase();
  return made;
}

FusionOp ad::mergeAxes(FusionOp fusion) { return AxisMerger(fusion).merge(); }
