// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ChunkSums.h"
#include "../Generic/SharedMemory.h"
#include "ClusterExchange.h"
#include "LaneChains.h"
#include "RowDistribution.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void ChunkSums::allocate() { sums = sharedMemory(builder, function, kSumBytes, "sums"); }

// The chunks of one pass, or of a block of a cluster, are a subtree of the tree over all of them.
FailureOr<Value> ChunkSums::reduce(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity) {
  int64_t partLength = kernel.getOrderAttr().getPartLength();
  const RowTiling &tiling = distribution.tiling;
  if (tiling.clusterBlocks > 1) {
    FailureOr<Value> ofBlock = sumPass(generic, loops, identity, distribution.segmentStart,
                                       distribution.segmentEnd, tiling.segment / partLength);
    if (failed(ofBlock))
      return failure();
    return cluster.join(combiningOp(generic), *ofBlock);
  }
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  Value total = reductionLoops.sizeOf(generic, reduced.front());
  auto pass = [&](Value lower, Value upper) -> FailureOr<SmallVector<Value>> {
    FailureOr<Value> sum = sumPass(generic, loops, identity, lower, upper, kChunksPerPass);
    if (failed(sum))
      return failure();
    return SmallVector<Value>{*sum};
  };
  auto joined = tree.joinBlocks(total, kChunksPerPass * partLength, identity, combiningOp(generic), pass);
  if (failed(joined))
    return failure();
  return joined->front();
}

Value ChunkSums::address(Value number, Type type) {
  Value bytes = binary<arith::MulIOp>(number, indexConstant(memoryBytes(type)));
  return addBytes(builder, loc, sums, bytes);
}

Value ChunkSums::load(Value number, Type type) {
  Value memory =
      LLVM::LoadOp::create(builder, loc, memoryType(type), address(number, type), memoryBytes(type));
  return fromMemory(memory, type);
}

FailureOr<Value> ChunkSums::sumPass(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                    Value lower, Value upper, int64_t maxChunks) {
  OrderAttr order = kernel.getOrderAttr();
  Value length = indexConstant(order.getPartLength());
  Value groups = indexConstant(kWarpThreads / distribution.tiling.threads);
  Value size = binary<arith::SubIOp>(upper, lower);
  Value count =
      binary<arith::MaxUIOp>(builder.createOrFold<arith::CeilDivUIOp>(loc, size, length), indexConstant(1));
  Value warpSize = indexConstant(kWarpThreads);
  Value first = binary<arith::MulIOp>(binary<arith::DivUIOp>(mapping.threadInBlock, warpSize), groups);
  Value step = binary<arith::MulIOp>(binary<arith::DivUIOp>(mapping.blockThreads, warpSize), groups);
  Type type = identity.getType();
  mapping.synchronizeBlock(); // all threads have read the sums of the pass before
  LogicalResult summed = emitLoop(first, count, step, [&](Value ofWarp) {
    Value number = binary<arith::AddIOp>(ofWarp, distribution.groupInWarp);
    return sumChunk(generic, loops, identity, number, {lower, upper}, count);
  });
  if (failed(summed))
    return failure();
  mapping.synchronizeBlock();
  joinSums(combiningOp(generic), count, maxChunks, type);
  return load(indexConstant(0), type);
}

// The chunk with that number in [lower, upper), by a group; its first thread stores the sum.
LogicalResult ChunkSums::sumChunk(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                  Value number, UnitRange range, Value count) {
  Value length = indexConstant(kernel.getOrderAttr().getPartLength());
  Value begin = binary<arith::AddIOp>(range.begin, binary<arith::MulIOp>(number, length));
  begin = binary<arith::MinUIOp>(begin, range.end);
  Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(begin, length), range.end);
  FailureOr<Value> sum = chains.laneChunk(generic, SmallVector<Index>(loops), identity, begin, end);
  if (failed(sum))
    return failure();
  Value has = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, count);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, distribution.inGroup, indexConstant(0));
  auto branch = scf::IfOp::create(builder, loc, binary<arith::AndIOp>(has, isFirst));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Type type = identity.getType();
  LLVM::StoreOp::create(builder, loc, toMemory(*sum), address(number, type), memoryBytes(type));
  return success();
}

// Adjacent sums are joined first; the last one of an odd number is its own join.
void ChunkSums::joinSums(Operation *join, Value count, int64_t maxCount, Type type) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(count));
  for (int64_t distance = 1; distance < known.value_or(maxCount); distance *= 2) {
    Value apart = indexConstant(distance), pair = indexConstant(2 * distance);
    Value pairs = binary<arith::SubIOp>(binary<arith::MaxUIOp>(count, apart), apart);
    LogicalResult joined =
        emitLoop(binary<arith::MulIOp>(mapping.threadInBlock, pair), pairs,
                 binary<arith::MulIOp>(mapping.blockThreads, pair), [&](Value left) {
                   Value sum = joinPartialResults(builder, loc, join, load(left, type),
                                                  load(binary<arith::AddIOp>(left, apart), type));
                   LLVM::StoreOp::create(builder, loc, toMemory(sum), address(left, type), memoryBytes(type));
                   return success();
                 });
    assert(succeeded(joined) && "joins emit no code that can fail");
    (void)joined;
    mapping.synchronizeBlock();
  }
}
