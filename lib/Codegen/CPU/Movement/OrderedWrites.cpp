// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "OrderedWrites.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Each unit goes through all indices, so that there are not many more units than threads.
static constexpr int64_t kUnits = 32, kRowsOfUnit = 1024;

// The first searched axis: the others have their indices in every iteration.
int64_t OrderedWrites::unitAxis(OrderedWrite &write) const { return *llvm::min_element(write.searched); }

LogicalResult OrderedWrites::emit(OrderedWrite &write) {
  CPUNest nest = kernelOutputs.nestOver(results.front(), {});
  AxisRange owned;
  owned.axis = unitAxis(write);
  owned.lower = indexConstant(0);
  owned.upper = nest.sizes[owned.axis];
  if (!distribution.isTooShort()) {
    int64_t size = nest.shape[owned.axis];
    int64_t step =
        ShapedType::isDynamic(size) ? kRowsOfUnit : std::max<int64_t>(1, llvm::divideCeil(size, kUnits));
    nest.unitLoops = {{{owned.axis}, step}};
    std::tie(owned.lower, owned.upper) = distribution.boundsOf(nest, owned.axis, distribution.unitsOfCall);
  }
  distribution.declareUnits({{0, nest.unitLoops}});
  if (failed(emitStart(write, owned)))
    return failure();
  // Axes on which indices depend, then the reduced loops in their order.
  SmallVector<unsigned> loops(write.outer);
  for (unsigned loop = write.rank; loop < write.generic.getNumLoops(); ++loop)
    loops.push_back(loop);
  SmallVector<Index> position(write.generic.getNumLoops(), Index{indexConstant(0), 0, nullptr});
  return emitUpdates(write, loops, owned, position);
}

// A result with the memory of what it starts from has these elements already.
LogicalResult OrderedWrites::emitStart(OrderedWrite &write, const AxisRange &owned) {
  if (isa<BlockArgument>(write.start())) // tied
    return success();
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
