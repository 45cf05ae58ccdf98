// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PersistentScheduler.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Value PersistentScheduler::kTileCount() { return divideUp(tileMapping.sizeK(), tile.k); }

void PersistentScheduler::bindCluster() {
  rank = binary<arith::RemUIOp>(mapping.block, indexConstant(tile.clusterSize));
}

void PersistentScheduler::synchronizeCluster() {
  NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/nullptr);
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/nullptr);
}

// A cluster computes a tile of clusterM rows, of which each block has its own part.
LogicalResult PersistentScheduler::forEachTile(TileCode code) {
  Value size = indexConstant(tile.clusterSize);
  Value cluster = binary<arith::DivUIOp>(mapping.block, size),
        clusters = binary<arith::DivUIOp>(mapping.gridBlocks, size);
  auto loop = scf::ForOp::create(builder, loc, cluster, tileMapping.tileCount(), clusters, indexConstant(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  Value before = loop.getRegionIterArg(0);
  TileOrigin origin = tileMapping.originOf(loop.getInductionVar());
  origin.m = binary<arith::AddIOp>(origin.m, binary<arith::MulIOp>(rank, indexConstant(tile.m)));
  if (failed(code(origin, before)))
    return failure();
  Value after = binary<arith::AddIOp>(before, kTileCount());
  scf::YieldOp::create(builder, loc, after);
  return success();
}
