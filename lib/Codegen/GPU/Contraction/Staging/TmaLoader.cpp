// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TmaLoader.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void TmaLoader::loadKTile(const TileOrigin &origin, Value kTile, Value k, Value rank) {
  Value fullBarrier = stages.pipeline().acquire(kTile);
  for (const TmaOperand &operand : stages.operands)
    loadOperand(operand, origin, kTile, k, rank, fullBarrier);
}

// TMA fills elements outside of the operand with zeros, which add nothing. A multicast load writes to the
// same address in each block of the cluster, and completes at the mbarrier of each.
void TmaLoader::loadOperand(const TmaOperand &operand, const TileOrigin &origin, Value kTile, Value k,
                            Value rank, Value fullBarrier) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand.part.operand);
  Type cluster = LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
  SwizzledTile part = operand.multicastPart();
  Value start = operand.part.start(origin);
  Value byte = indexConstant(operand.offset), multicastMask;
  if (operand.multicastParts > 1) {
    start = binary<arith::AddIOp>(start, binary<arith::MulIOp>(rank, indexConstant(part.extent)));
    byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(rank, indexConstant(part.bytes())));
    multicastMask =
        arith::ConstantIntOp::create(builder, loc, builder.getI16Type(), (1 << operand.multicastParts) - 1);
  }
  for (int64_t slab = 0; slab < part.slabCount(); ++slab) {
    Value index = binary<arith::AddIOp>(start, indexConstant(slab * part.slabExtent()));
    Position position = maps.apply(map, tileMapping.loopsAt(origin, index, index, k));
    SmallVector<Value> coordinates; // from the contiguous axis on
    for (const Index &at : llvm::reverse(position))
      coordinates.push_back(arith::IndexCastOp::create(builder, loc, builder.getI32Type(), at.base));
    Value slabByte = binary<arith::AddIOp>(byte, indexConstant(slab * part.slabBytes()));
    Value target =
        LLVM::AddrSpaceCastOp::create(builder, loc, cluster, stages.pipeline().pointerTo(kTile, slabByte));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, target, operand.tensorMap, coordinates, fullBarrier, /*im2colOffsets=*/ValueRange(),
        multicastMask, /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
}
