// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ThreadMapping.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void ThreadMapping::bind() {
  using ::mlir::gpu::Dimension;
  threadInBlock = ::mlir::gpu::ThreadIdOp::create(builder, loc, Dimension::x);
  block = ::mlir::gpu::BlockIdOp::create(builder, loc, Dimension::x);
  blockThreads = ::mlir::gpu::BlockDimOp::create(builder, loc, Dimension::x);
  gridBlocks = ::mlir::gpu::GridDimOp::create(builder, loc, Dimension::x);
  Value warpSize = indexConstant(kWarpThreads);
  thread = binary<arith::AddIOp>(binary<arith::MulIOp>(block, blockThreads), threadInBlock);
  gridThreads = binary<arith::MulIOp>(gridBlocks, blockThreads);
  warp = binary<arith::DivUIOp>(thread, warpSize);
  gridWarps = binary<arith::DivUIOp>(gridThreads, warpSize);
  lane = binary<arith::RemUIOp>(threadInBlock, warpSize);
}

Value ThreadMapping::elementCount(ValueRange sizes) {
  Value count = indexConstant(1);
  for (Value size : sizes)
    count = binary<arith::MulIOp>(count, size);
  return count;
}

// Orders memory operations of the warp's threads: those before the barrier are visible after it.
void ThreadMapping::synchronizeWarp() {
  Value all = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), -1);
  NVVM::SyncWarpOp::create(builder, loc, all);
}

void ThreadMapping::synchronizeBlock() { ::mlir::gpu::BarrierOp::create(builder, loc); }
