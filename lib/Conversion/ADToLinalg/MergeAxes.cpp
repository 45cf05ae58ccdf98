// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels vectorize the last axis. One of few elements leaves most of a vector empty, unless all operands
// have all axes, so that their elements follow each other.

#include "MergeAxes.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-ad-to-linalg"

using namespace mlir;
using namespace mlir::ad;

// Elements of some vectors.
static constexpr int64_t kShortAxis = 64;

using Group = SmallVector<int64_t>; ///< axes that become one

// The value of a constant tensor; null for any other operation.
static DenseElementsAttr constantTensor(Operation &op) {
  DenseElementsAttr value;
  return op.hasTrait<OpTrait::ConstantLike>() && matchPattern(&op, m_Constant(&value)) ? value : nullptr;
}

// Code that depends on the indices of elements, as that of `ad.iota`, would number merged axes in another
// way.
static bool treatsAxesAlike(Operation &op) {
  return isa<ElementwiseOpInterface>(op) || viewKindOf(&op) == ViewKind::broadcast || constantTensor(op);
}

// All but sizes.
static SmallVector<Value> valuesOf(Block &body) {
  SmallVector<Value> values(body.getArguments());
  for (Operation &op : body.without_terminator())
    llvm::append_range(values, op.getResults());
  llvm::erase_if(values, [](Value value) { return isa<IndexType>(value.getType()); });
  return values;
}

// Whether the axes of the value, counted from the last one, are those of the space or 1.
static bool isAligned(Value value, ArrayRef<int64_t> space) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() > static_cast<int64_t>(space.size()))
    return false;
  return llvm::all_of(llvm::zip_equal(type.getShape(), space.take_back(type.getRank())), [](auto sizes) {
    auto [size, whole] = sizes;
    return size == 1 || size == whole;
  });
}

static bool hasAxis(Type type, ArrayRef<int64_t> space, int64_t axis) {
  auto shape = cast<RankedTensorType>(type).getShape();
  int64_t own = axis - static_cast<int64_t>(space.size() - shape.size());
  return own >= 0 && shape[own] == space[axis];
}

// Whether the value has some axes and repeats others, so that its elements do not follow each other.
static bool isRepeated(Value value, ArrayRef<int64_t> space) {
  auto axes = llvm::make_filter_range(llvm::seq<int64_t>(0, space.size()),
                                      [&](int64_t axis) { return space[axis] != 1; });
  auto has = [&](int64_t axis) { return hasAxis(value.getType(), space, axis); };
  return llvm::any_of(axes, has) && !llvm::all_of(axes, has);
}

// Adjacent axes that each value has, or does not have. Axes of size 1 go with those before them, and one of
// dynamic size stays as it is.
static SmallVector<Group> groupAxes(ArrayRef<Value> values, ArrayRef<int64_t> space) {
  SmallVector<Group> groups;
  std::optional<llvm::SmallBitVector> before;
  bool wasDynamic = false;
  for (auto [axis, size] : llvm::enumerate(space)) {
    llvm::SmallBitVector having(values.size());
    for (auto [number, value] : llvm::enumerate(values))
      having[number] = hasAxis(value.getType(), space, axis);
    bool isDynamic = ShapedType::isDynamic(size);
    if (groups.empty() || (size != 1 && before && (having != *before || isDynamic || wasDynamic)))
      groups.emplace_back();
    groups.back().push_back(axis);
    if (size != 1) {
      before = having;
      wasDynamic = isDynamic;
    }
  }
  return groups;
}

static int64_t elementsAlong(const Group &group, ArrayRef<int64_t> space) {
  int64_t elements = 1;
  for (int64_t axis : group)
    elements = ShapedType::isDynamic(space[axis]) ? ShapedType::kDynamic : elements * space[axis];
  return elements;
}

static Type mergedType(Type type, ArrayRef<Group> groups, ArrayRef<int64_t> space) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return type;
  SmallVector<int64_t> shape;
  for (const Group &group : groups) {
    bool has =
        llvm::any_of(group, [&](int64_t axis) { return space[axis] != 1 && hasAxis(type, space, axis); });
    shape.push_back(has ? elementsAlong(group, space) : 1);
  }
  return tensor.clone(shape);
}

static Value reshape(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  SmallVector<Value> sizes;
  for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(tensor::DimOp::create(builder, loc, value, axis));
  return reshapeTo(builder, loc, value, type, sizes);
}

static void mergeInside(Block &body, function_ref<Type(Type)> merged) {
  for (BlockArgument argument : body.getArguments())
    argument.setType(merged(argument.getType()));
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (DenseElementsAttr value = constantTensor(op)) {
      OpBuilder builder(&op);
      Type type = merged(value.getType());
      Operation *constant = op.getContext()->getLoadedDialect<ADDialect>()->materializeConstant(
          builder, value.reshape(cast<ShapedType>(type)), type, op.getLoc());
      op.replaceAllUsesWith(constant);
      op.erase();
      continue;
    }
    for (OpResult result : op.getResults())
      result.setType(merged(result.getType()));
  }
}

FusionOp ad::mergeShortAxes(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  auto type = cast<RankedTensorType>(fusion.getResultTypes().front());
  ArrayRef<int64_t> space = type.getShape(); // that all values have, or repeat along some axes
  SmallVector<Value> values = valuesOf(body);
  if (space.empty() || llvm::is_contained(space, 0) || ShapedType::isDynamic(space.back()) ||
      space.back() >= kShortAxis || !llvm::all_of(body.without_terminator(), treatsAxesAlike) ||
      !llvm::all_of(values, [&](Value value) { return isAligned(value, space); }) ||
      llvm::any_of(fusion.getResultTypes(),
                   [&](Type other) { return cast<RankedTensorType>(other).getShape() != space; }) ||
      !llvm::any_of(values, [&](Value value) { return isRepeated(value, space); }))
    return fusion;
  SmallVector<Group> groups = groupAxes(values, space);
  if (elementsAlong(groups.back(), space) == space.back())
    return fusion;
  auto merged = [&](Type before) { return mergedType(before, groups, space); };
  LDBG() << "axes of " << type << " are merged to " << merged(type);
  OpBuilder builder(fusion);
  Location loc = fusion.getLoc();
  SmallVector<Value> inputs;
  for (Value input : fusion.getInputs())
    inputs.push_back(reshape(builder, loc, input, merged(input.getType())));
  mergeInside(body, merged);
  auto made =
      FusionOp::create(builder, loc, llvm::map_to_vector(fusion.getResultTypes(), merged), fusion.getKind(),
                       inputs, fusion.getKernelAttr(), fusion.getOrderAttr(), fusion.getAllowAttr());
  made.getBody().takeBody(fusion.getBody());
  for (auto [before, after] : llvm::zip_equal(fusion.getResults(), made.getResults()))
    before.replaceAllUsesWith(reshape(builder, loc, after, before.getType()));
  fusion.erase();
  return made;
}
