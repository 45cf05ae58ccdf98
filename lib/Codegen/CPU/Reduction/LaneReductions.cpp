// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over the lanes of an order. Element j goes to lane j mod the number of lanes, one vector (of
// many lanes: memory) holds all lanes, and a tree joins its lower half with the upper one until one lane is
// left.

#include "LaneReductions.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// More lanes than this are in memory, not in one vector: LLVM's code generator takes time in proportion to
// the square of a vector that is much wider than its registers.
static constexpr int64_t kMaxVectorLanes = 256;

// Of lanes in memory, as many are computed at once.
static constexpr int64_t kGroupLanes = 64;

// A loop over groups of the lanes, and then one for each level of the tree until one group is left.
FailureOr<Value> LaneReductions::laneChunkInMemory(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                   Value identity, Value lower, Value upper, int64_t count) {
  WithLanes laneCode(context, kGroupLanes, nullptr);
  Type type = identity.getType();
  SmallVector<Value> &unused = unusedSlots[{memoryType(type), count}];
  Value memory = unused.empty() ? stackMemory.allocate(memoryType(type), count) : unused.pop_back_val();
  Buffer slots{memory, memoryType(type), {}, {}};
  Value group = indexConstant(kGroupLanes), zero = indexConstant(0);
  auto store = [&](Value sum, Value at) {
    LLVM::StoreOp::create(builder, loc, toMemory(sum), memoryAccess.pointerAt(slots, at), kCore.lineBytes);
  };
  auto load = [&](Value at) {
    Value loaded = LLVM::LoadOp::create(builder, loc, VectorType::get(kGroupLanes, memoryType(type)),
                                        memoryAccess.pointerAt(slots, at), kCore.lineBytes);
    return fromMemory(loaded, type);
  };
  {
    auto loop = scf::ForOp::create(builder, loc, zero, indexConstant(count), group);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(context);
    FailureOr<Value> sum =
        laneAccumulators.reduceChunk(generic, loops, laneValues.splat(identity, lanes), lower, upper,
                                     indexConstant(count), loop.getInductionVar());
    if (failed(sum))
      return failure();
    store(*sum, loop.getInductionVar());
  }
  auto join = [&](Value low, Value high) {
    return joinPartialResults(builder, loc, combiningOp(generic), low, high);
  };
  for (int64_t half = count / 2; half >= kGroupLanes; half /= 2) {
    auto loop = scf::ForOp::create(builder, loc, zero, indexConstant(half), group);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    store(join(load(at), load(binary<arith::AddIOp>(at, indexConstant(half)))), at);
  }
  unusedSlots[{memoryType(type), count}].push_back(memory);
  return laneAccumulators.joinAllLanes(load(zero), join);
}

// One chunk: the accumulators of its lanes, and then the tree.
FailureOr<Value> LaneReductions::laneChunk(linalg::GenericOp generic, SmallVector<Index> loops,
                                           Value identity, Value lower, Value upper, int64_t count) {
  if (failed(hoisting.hoistReduced(generic, loops)))
    return failure();
  if (count > kMaxVectorLanes)
    return laneChunkInMemory(generic, loops, identity, lower, upper, count);
  WithLanes laneCode(context, count, nullptr);
  Value start = laneValues.splat(identity, count);
  auto exactly = [&]() -> FailureOr<Value> {
    FailureOr<Value> accumulators = laneAccumulators.reduceChunk(generic, loops, start, lower, upper);
    if (failed(accumulators))
      return failure();
    Operation *join = combiningOp(generic);
    return laneAccumulators.joinAllLanes(*accumulators, [&](Value low, Value high) {
      return joinPartialResults(builder, loc, join, low, high);
    });
  };
  if (minMax.isPlainMinMax(generic))
    return minMax.minMaxOfChunk(generic, loops, {lower, upper}, identity, exactly);
  return exactly();
}
