// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PartialSizes.h"
#include "ColumnRuns.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Value PartialSizes::resultCount() {
  linalg::GenericOp reduction = partialTree.division.reductions.front();
  Value count = indexConstant(1);
  auto type = cast<RankedTensorType>(reduction.getResult(0).getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    count = binary<arith::MulIOp>(count, kernelArguments.sizeOf(reduction.getResult(0), axis));
  return count;
}

// Of the longest reduction.
Value PartialSizes::maxLeaves() {
  Value longest = indexConstant(1);
  for (linalg::GenericOp reduction : partialTree.division.reductions) {
    Value leaves = binary<arith::CeilDivUIOp>(
        reductionLoops.total(reduction), indexConstant(leafLength(kernel, reduction, partialTree.division)));
    longest = binary<arith::MaxUIOp>(longest, leaves);
  }
  return longest;
}

Value PartialSizes::roundUpToPowerOfTwo(Value count) {
  Type wide = builder.getI64Type();
  Value below = binary<arith::SubIOp>(count, indexConstant(1));
  below = arith::IndexCastOp::create(builder, loc, wide, below);
  Value zeros = LLVM::CountLeadingZerosOp::create(builder, loc, wide, below, /*is_zero_poison=*/false);
  Value bits =
      arith::SubIOp::create(builder, loc, arith::ConstantIntOp::create(builder, loc, wide, 64), zeros);
  Value one = arith::ConstantIntOp::create(builder, loc, wide, 1);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    arith::ShLIOp::create(builder, loc, one, bits));
}

// Of the result, by thread blocks.
Value PartialSizes::tileCount() {
  const NodeTiles &tiles = *partialTree.division.tiles;
  linalg::GenericOp reduction = partialTree.division.reductions.front();
  int64_t last = cast<RankedTensorType>(reduction.getResult(0).getType()).getRank() - 1;
  Value count = indexConstant(1);
  for (int64_t axis = 0; axis <= last; ++axis) {
    Value size = kernelArguments.sizeOf(reduction.getResult(0), axis);
    int64_t each = axis == last ? tiles.n : axis == tiles.mAxis ? tiles.m : 1;
    count = binary<arith::MulIOp>(count, binary<arith::CeilDivUIOp>(size, indexConstant(each)));
  }
  return count;
}

// Nodes are so short that each multiprocessor has kTargetThreadsPerSM threads, or its blocks with tiles.
Value PartialSizes::chooseLeaves(int64_t threadsPerNode) {
  Value one = indexConstant(1);
  const std::optional<NodeTiles> &tiles = partialTree.division.tiles;
  if (tiles && tiles->chain != 0)
    return one;
  int64_t perSM = tiles ? tiles->blocksPerSM : kTargetThreadsPerSM / threadsPerNode;
  Value wanted = binary<arith::MulIOp>(smCount, indexConstant(perSM));
  Value results = binary<arith::MaxUIOp>(tiles ? tileCount() : resultCount(), one);
  Value count = binary<arith::CeilDivUIOp>(wanted, results);
  count = binary<arith::MinUIOp>(binary<arith::MaxUIOp>(count, one), indexConstant(kMaxNodes));
  if (tiles) { // as many blocks as are wanted, or more
    Value leaves = binary<arith::MaxUIOp>(binary<arith::DivUIOp>(maxLeaves(), count), one);
    Value next = roundUpToPowerOfTwo(binary<arith::AddIOp>(leaves, one));
    return binary<arith::DivUIOp>(next, indexConstant(2));
  }
  return roundUpToPowerOfTwo(binary<arith::CeilDivUIOp>(maxLeaves(), count));
}

// Whether the undivided kernel has few threads, or few blocks with tiles, and long reductions.
Value PartialSizes::shouldDivide() {
  Value isLong = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
  for (linalg::GenericOp reduction : partialTree.division.reductions) {
    Value maxLength = indexConstant(maxUndividedLength(kernel, reduction, partialTree.division));
    Value isLonger = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                                           reductionLoops.total(reduction), maxLength);
    isLong = binary<arith::OrIOp>(isLong, isLonger);
  }
  const Division &division = partialTree.division;
  if (division.tiles && division.tiles->chain != 0)
    return isLong;
  Value has = division.tiles ? tileCount()
                             : binary<arith::MulIOp>(resultCount(), indexConstant(division.threadsPerResult));
  Value enough = division.tiles ? smCount : binary<arith::MulIOp>(smCount, indexConstant(kMinThreadsPerSM));
  Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, has, enough);
  return binary<arith::AndIOp>(isFew, isLong);
}

bool device::readsNoOperand(func::FuncOp host) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(host.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return host.getBody().front().getOps<LLVM::LoadOp>().empty();
}

// Of all nodes.
Value PartialSizes::threadCount(int64_t threadsPerNode) {
  if (partialTree.division.tiles) {
    Value nodes = partialTree.nodes[partialTree.division.reductions.front()].count;
    Value blocks = binary<arith::MulIOp>(nodes, tileCount());
    return binary<arith::MulIOp>(blocks, indexConstant(partialTree.division.tiles->threads));
  }
  Value threads = indexConstant(1);
  std::optional<ColumnRuns> runs = matchColumnRuns(kernel);
  for (linalg::GenericOp reduction : partialTree.division.reductions) {
    Value own = mapping.elementCount(partialTree.nodes[reduction].buffers.front().sizes);
    if (runs) // some threads of a warp have no node
      own = binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(own, indexConstant(runs->chainsOfWarp())),
                                  indexConstant(kWarpThreads));
    threads = binary<arith::MaxUIOp>(threads, binary<arith::MulIOp>(own, indexConstant(threadsPerNode)));
  }
  return threads;
}

FailureOr<bool> PartialSizes::emitSizes(int64_t threadsPerNode) {
  if (failed(bindArguments()))
    return failure();
  Value leaves = chooseLeaves(threadsPerNode), bytes = partialTree.layOutNodes(Value(), leaves);
  Value threads = threadCount(threadsPerNode);
  if (!partialTree.division.always)
    leaves = arith::SelectOp::create(builder, loc, shouldDivide(), leaves, indexConstant(0));
  func::ReturnOp::create(builder, loc, ValueRange{leaves, bytes, threads});
  return readsNoOperand(host);
}
