// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles that compute several contractions. The accumulators of one contraction fill the registers; those of
// an earlier one must not stay in registers through the K loop of the next, or the register allocator spills
// inside that loop. All contractions of a tile are therefore computed first, one after the other. Each but
// the last stores its accumulators to the stack, and every use loads them from there.

#include "AccumulatorSpilling.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static bool isVector(const Position &position) {
  return llvm::any_of(position, [](const Index &index) { return !index.isUniform(); });
}

static bool areEqual(ArrayRef<Position> a, ArrayRef<Position> b) {
  auto sameIndex = [](const Index &x, const Index &y) { return !(x < y) && !(y < x); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Position &x, const Position &y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), sameIndex);
  });
}

// The reductions that the tensor needs at vectors of positions, each once, in the order in which they are
// needed.
void AccumulatorSpilling::collectReductions(Value tensor, ArrayRef<Position> positions,
                                            TileReductions &reductions) {
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (buffers.count(tensor) || !generic || !llvm::all_of(positions, isVector))
    return;
  if (generic.getNumReductionLoops() > 0) {
    bool isNew = llvm::none_of(
        reductions, [&](auto &sum) { return sum.first == tensor && areEqual(sum.second, positions); });
    if (!reductionLoops.usesLanes(generic) && isNew)
      reductions.emplace_back(tensor, SmallVector<Position>(positions));
    return;
  }
  AffineMap out =
      generic.getMatchingIndexingMap(generic.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber()));
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (!input->get().getDefiningOp<linalg::GenericOp>() ||
        generic.getMatchingBlockArgument(input).use_empty())
      continue;
    SmallVector<Position> inner;
    for (const Position &position : positions)
      inner.push_back(
          maps.apply(generic.getMatchingIndexingMap(input), maps.loopsFromOutput(generic, out, position)));
    collectReductions(input->get(), inner, reductions);
  }
}

// Whether the loop over K costs less than storing and loading its accumulators.
static bool isShort(const std::pair<Value, SmallVector<Position>> &sum) {
  constexpr int64_t kShort = 16;
  auto generic = sum.first.getDefiningOp<linalg::GenericOp>();
  int64_t steps = 1;
  for (auto [size, kind] : llvm::zip_equal(generic.getStaticLoopRanges(), generic.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      steps = ShapedType::isDynamic(size) ? kShort : std::min(kShort, steps * size);
  return steps < kShort;
}

LogicalResult AccumulatorSpilling::evaluateReductions(ValueRange outputs, ArrayRef<Position> positions) {
  // Few accumulators leave room for those of the next contraction.
  constexpr size_t kManyAccumulators = 8;
  if (lanes == 1 || flat || positions.size() < kManyAccumulators)
    return success();
  TileReductions reductions;
  for (Value output : outputs)
    collectReductions(output, positions, reductions);
  if (llvm::all_of(reductions, isShort))
    return success();
  for (auto [number, sum] : llvm::enumerate(ArrayRef(reductions).drop_back(!reductions.empty()))) {
    auto &[tensor, at] = sum;
    if (failed(evaluator.evaluate(tensor, at)))
      return failure();
    spill(tensor, at, number);
  }
  return success();
}

// Moves the values to stack slot group `number`, which all tiles of the kernel use.
void AccumulatorSpilling::spill(Value tensor, ArrayRef<Position> positions, unsigned number) {
  Type element = memoryType(getElementTypeOrSelf(tensor.getType()));
  int64_t count = positions.size() * lanes;
  Value &group = spillSlots[{number, element.getAsOpaquePointer(), count}];
  if (!group)
    group = stackMemory.allocate(element, count);
  for (auto [i, position] : llvm::enumerate(positions)) {
    Value value = context.known.lookup(context.keyOf(tensor, position));
    value = value ? reload(value) : value;
    if (!value || spilled.count(value) || !isa<VectorType>(value.getType()))
      continue;
    Buffer slots{group, element, {}, {}};
    Value slot = memoryAccess.pointerAt(slots, indexConstant(i * lanes));
    LLVM::StoreOp::create(builder, loc, toMemory(value), slot, kCore.lineBytes);
    spilled[value] = slot;
  }
}

// The value itself, or a load of it. LLVM must not know that it is the value that was stored, or it would
// keep it in a register again: the load is volatile.
Value AccumulatorSpilling::reload(Value value) {
  auto found = spilled.find(value);
  if (found == spilled.end())
    return value;
  auto type = cast<VectorType>(value.getType());
  Type stored = VectorType::get(type.getShape(), memoryType(type.getElementType()));
  Value loaded =
      LLVM::LoadOp::create(builder, loc, stored, found->second, kCore.lineBytes, /*isVolatile=*/true);
  return fromMemory(loaded, type.getElementType());
}
