// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TmaProducer.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

LogicalResult TmaProducer::emit() {
  return scheduler.forEachTile([&](const TileOrigin &origin, Value before) {
    return emitLoop(indexConstant(0), scheduler.kTileCount(), indexConstant(1), [&](Value number) {
      loader.loadKTile(origin, binary<arith::AddIOp>(before, number),
                       binary<arith::MulIOp>(number, indexConstant(tile.k)), scheduler.blockInCluster());
      return success();
    });
  });
}
