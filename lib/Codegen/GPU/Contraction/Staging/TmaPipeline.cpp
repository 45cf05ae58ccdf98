// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TmaPipeline.h"
#include "../../Generic/SharedMemory.h"
#include "../ContractionEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

LogicalResult TmaPipeline::prepare() {
  if (failed(stages.addOperands()))
    return failure();
  staging.operands.clear();
  for (const TmaOperand &operand : stages.operands)
    staging.operands.push_back(TmaStages::stagedOperand(operand, stages.stageBytes()));
  launchShape.dynamicSharedBytes = stages.totalBytes();
  shared = sharedMemory(builder, function, /*bytes=*/0, "shared", kTileAlignment);
  stages.initialize();
  mapping.synchronizeBlock();
  return success();
}

Value TmaPipeline::stageOf(Value kTile) {
  return binary<arith::RemUIOp>(numberOf(kTile), indexConstant(tile.stages));
}

void TmaPipeline::load(const TileOrigin &origin, Value kTile) {
  Value k = binary<arith::AddIOp>(origin.beginK, binary<arith::MulIOp>(kTile, indexConstant(tile.k)));
  loader.loadKTile(origin, numberOf(kTile), k, /*rank=*/Value());
}

void TmaPipeline::reuseStages() {
  auto space = NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta);
  NVVM::FenceProxyOp::create(builder, loc, NVVM::ProxyKind::async_shared, space);
  mapping.synchronizeBlock();
}

// A thread of another warp issues the loads of each K tile, so that no warp falls behind the others.
Value TmaPipeline::isIssuer(Value kTile) {
  Value warp = binary<arith::RemUIOp>(kTile, indexConstant(tile.threads / kWarpThreads));
  Value thread = binary<arith::MulIOp>(warp, indexConstant(kWarpThreads));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, mapping.threadInBlock, thread);
}

LogicalResult TmaPipeline::emitPrologue(Value kTiles, LoadKTile load) {
  for (int64_t stage = 0; stage + 1 < tile.stages; ++stage) {
    Value kTile = indexConstant(stage);
    Value loads = binary<arith::AndIOp>(isIssuer(kTile), isBelow(kTile, kTiles));
    if (failed(emitIf(loads, [&] { return load(kTile); })))
      return failure();
  }
  return success();
}

// By one thread of the warp, after all of them have read the K tile.
void TmaPipeline::release(Value kTile) {
  mapping.synchronizeWarp();
  (void)emitIf(isEqual(mapping.lane, 0), [&] {
    stages.pipeline().release(numberOf(kTile), indexConstant(0));
    return success();
  });
}

// The next load overwrites the K tile before this one, which the other warps have nearly always released: the
// thread that issues the load hardly waits.
FailureOr<SmallVector<Value>> TmaPipeline::emitMainLoop(Value kTiles, ArrayRef<Value> start, LoadKTile load,
                                                        MultiplyKTile multiply) {
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), kTiles, indexConstant(1), start);
  after = numberOf(kTiles);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  Value kTile = loop.getInductionVar(), next = binary<arith::AddIOp>(kTile, indexConstant(tile.stages - 1));
  stages.pipeline().waitFull(numberOf(kTile));
  auto accumulators = multiply(kTile, loop.getRegionIterArgs());
  if (failed(accumulators))
    return failure();
  release(kTile);
  Value loads = binary<arith::AndIOp>(isIssuer(next), isBelow(next, kTiles));
  if (failed(emitIf(loads, [&] { return load(next); })))
    return failure();
  scf::YieldOp::create(builder, loc, *accumulators);
  return SmallVector<Value>(loop.getResults());
}
