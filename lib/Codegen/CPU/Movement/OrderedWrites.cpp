// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "OrderedWrites.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Units of work, for threads. And what going through one index takes, in bytes that are written meanwhile:
// each range goes through all of them.
static constexpr int64_t kUnits = 8, kElementsOfDynamicUnit = 1024, kBytesPerIndex = 16;

// The first searched axis: the others have their indices in every iteration.
int64_t OrderedWrites::rangeAxis(OrderedWrite &write) const { return write.searched.front(); }

// Elements along that axis which are written and then updated while they are in the second-level cache.
int64_t OrderedWrites::elementsOfRange(OrderedWrite &write) const {
  const Buffer &result = results.front();
  int64_t size = result.shape[rangeAxis(write)];
  SmallVector<int64_t> loops = write.generic.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(loops) || ShapedType::isDynamicShape(result.shape))
    return kElementsOfDynamicUnit;
  int64_t bytes = memoryBytes(result.element), indices = kBytesPerIndex;
  for (int64_t axisSize : result.shape)
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, axisSize);
  for (int64_t loop : ArrayRef(loops).drop_front(write.rank))
    indices = llvm::SaturatingMultiply<uint64_t>(indices, std::max<int64_t>(loop, 1));
  int64_t ranges = std::max<int64_t>(std::min(bytes / kCore.secondLevelBytes, bytes / indices), 1);
  return std::max<int64_t>(llvm::divideCeil(size, ranges), 1);
}

LogicalResult OrderedWrites::emit(OrderedWrite &write) {
  CPUNest nest = kernelOutputs.nestOver(results.front(), {});
  AxisRange owned{rangeAxis(write), indexConstant(0), nest.sizes[rangeAxis(write)]};
  int64_t size = nest.shape[owned.axis], step = elementsOfRange(write);
  bool isDivided = !distribution.isTooShort();
  if (isDivided) {
    int64_t longest = ShapedType::isDynamic(size) ? kElementsOfDynamicUnit : llvm::divideCeil(size, kUnits);
    nest.unitLoops = {{{owned.axis}, std::max<int64_t>(std::min(step, longest), 1)}};
    std::tie(owned.lower, owned.upper) = distribution.boundsOf(nest, owned.axis, distribution.unitsOfCall);
  }
  distribution.declareUnits({{0, nest.unitLoops}});
  // Without elements to write first, all that the call owns is one range.
  if (!isDivided || isTied(write))
    return emitRange(write, owned);
  return emitLoop(owned.lower, owned.upper, indexConstant(step), [&](Value lower) {
    Value upper = binary<arith::MinUIOp>(binary<arith::AddIOp>(lower, indexConstant(step)), owned.upper);
    return emitRange(write, {owned.axis, lower, upper});
  });
}

LogicalResult OrderedWrites::emitRange(OrderedWrite &write, const AxisRange &owned) {
  if (!isTied(write) && failed(emitStart(write, owned)))
    return failure();
  // Axes on which indices depend, then the reduced loops in their order.
  SmallVector<unsigned> loops(write.outer);
  for (unsigned loop = write.rank; loop < write.generic.getNumLoops(); ++loop)
    loops.push_back(loop);
  SmallVector<Index> position(write.generic.getNumLoops(), Index{indexConstant(0), 0, nullptr});
  return emitUpdates(write, loops, owned, position);
}

LogicalResult OrderedWrites::emitStart(OrderedWrite &write, const AxisRange &owned) {
  CPUNest nest = kernelOutputs.nestOver(results.front(), write.start());
  nest.range = owned;
  return loopNests.emitNest(nest, [&](ArrayRef<Position> positions) {
    return kernelOutputs.storeOutputs(write.start(), results.front(), positions);
  });
}

LogicalResult OrderedWrites::emitUpdates(OrderedWrite &write, ArrayRef<unsigned> loops,
                                         const AxisRange &owned, SmallVector<Index> &position) {
  if (loops.empty())
    return emitUpdate(write, owned, position);
  return emitLoop(indexConstant(0), reductionLoops.sizeOf(write.generic, loops.front()), indexConstant(1),
                  [&](Value index) {
                    position[loops.front()] = {index, 0, nullptr};
                    return emitUpdates(write, loops.drop_front(), owned, position);
                  });
}

// One iteration, if the element is one of those that this call owns: negative indices are the largest
// unsigned numbers.
LogicalResult OrderedWrites::emitUpdate(OrderedWrite &write, const AxisRange &owned,
                                        ArrayRef<Index> position) {
  Scope scope(context);
  FailureOr<SmallVector<Value>> indices =
      values.evaluateBody(write.generic, position, IRMapping(), write.indices);
  if (failed(indices))
    return failure();
  Value isOwned;
  for (auto [axis, index] : llvm::zip_equal(write.searched, *indices)) {
    bool isDivided = int64_t(axis) == owned.axis;
    Value from = isDivided ? owned.lower : indexConstant(0);
    Value to = isDivided ? owned.upper : results.front().sizes[axis];
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                         binary<arith::SubIOp>(index, from), binary<arith::SubIOp>(to, from));
    isOwned = both(isOwned, inside);
  }
  return context.emitIf(isOwned, [&] { return emitElements(write, *indices, position); });
}

// The elements along the axes that all iterations run over, in vectors if they are contiguous.
LogicalResult OrderedWrites::emitElements(OrderedWrite &write, ArrayRef<Value> indices,
                                          ArrayRef<Index> position) {
  const Buffer &result = results.front();
  CPUNest nest;
  for (unsigned axis : write.inner) {
    nest.sizes.push_back(result.sizes[axis]);
    nest.shape.push_back(result.shape[axis]);
  }
  nest.vectorize = !write.inner.empty() && write.inner.back() + 1 == write.rank;
  return loopNests.emitNest(nest, [&](ArrayRef<Position> points) -> LogicalResult {
    for (const Position &point : points) {
      Scope scope(context);
      SmallVector<Index> loops(position);
      for (auto [axis, index] : llvm::zip_equal(write.inner, point))
        loops[axis] = index;
      IRMapping known;
      for (auto [axis, computed, index] : llvm::zip_equal(write.searched, write.indices, indices)) {
        known.map(computed, index);
        loops[axis] = {index, 0, nullptr};
      }
      Position element(ArrayRef<Index>(loops).take_front(write.rank));
      known.map(write.accumulator(), memoryAccess.load(result, element));
      FailureOr<SmallVector<Value>> updated = values.evaluateBody(write.generic, loops, known, write.updated);
      if (failed(updated))
        return failure();
      memoryAccess.store(result, element, updated->front());
    }
    return success();
  });
}
