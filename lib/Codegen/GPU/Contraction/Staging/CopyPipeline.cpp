// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "CopyPipeline.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Value CopyPipeline::stageOf(Value kTile) { return binary<arith::RemUIOp>(kTile, indexConstant(tile.stages)); }

LogicalResult CopyPipeline::emitPrologue(Value kTiles, LoadKTile load) {
  for (int64_t stage = 0; stage + 1 < tile.stages; ++stage) {
    Value kTile = indexConstant(stage);
    if (failed(emitIfNotConstant(isBelow(kTile, kTiles), [&] { return load(kTile); })))
      return failure();
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  }
  return success();
}

// The one barrier of an iteration has two purposes: after it, the copies of all threads for this K tile have
// arrived, and no thread still reads the stage that the next copies overwrite.
FailureOr<SmallVector<Value>> CopyPipeline::emitMainLoop(Value kTiles, ArrayRef<Value> start, LoadKTile load,
                                                         MultiplyKTile multiply) {
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), kTiles, indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  Value kTile = loop.getInductionVar(), next = binary<arith::AddIOp>(kTile, indexConstant(tile.stages - 1));
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, tile.stages - 2);
  mapping.synchronizeBlock();
  if (failed(emitIf(isBelow(next, kTiles), [&] { return load(next); })))
    return failure();
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  auto accumulators = multiply(kTile, loop.getRegionIterArgs());
  if (failed(accumulators))
    return failure();
  scf::YieldOp::create(builder, loc, *accumulators);
  return SmallVector<Value>(loop.getResults());
}
