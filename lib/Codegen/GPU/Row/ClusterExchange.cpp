// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ClusterExchange.h"
#include "../Generic/SharedMemory.h"
#include "RowDistribution.h"
#include "RowEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void ClusterExchange::synchronize() {
  NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/nullptr);
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/nullptr);
}

// At the end of a row the blocks wait for each other: no block may end, or store values of the next row,
// while others read its shared memory.
LogicalResult ClusterExchange::emitLoop(Value count, function_ref<LogicalResult(Value)> emitRow) {
  Value blocks = indexConstant(distribution.tiling.clusterBlocks);
  Value first = binary<arith::DivUIOp>(mapping.block, blocks);
  Value step = binary<arith::DivUIOp>(mapping.gridBlocks, blocks);
  return RowComponent::emitLoop(first, count, step, [&](Value number) -> LogicalResult {
    if (failed(emitRow(number)))
      return failure();
    synchronize();
    return success();
  });
}

Value ClusterExchange::load(Value slot, int64_t rank, Type type) {
  Value block = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), rank);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
  Value address = NVVM::MapaOp::create(builder, loc, pointer, slot, block);
  Value memory = LLVM::LoadOp::create(builder, loc, memoryType(type), address, memoryBytes(type));
  return fromMemory(memory, type);
}

void ClusterExchange::allocate(int64_t blocks) {
  slots = sharedMemory(builder, function, kClusterBytes, "cluster");
  launchShape.clusterSize = blocks;
  if (launchShape.axes > 0)
    launchShape.tile = {1};
  else
    launchShape.gridSize = blocks; // of a single row
}

// The slots alternate: when a block writes its next value but one, all others have come to the barrier
// between and so have read this one.
Value ClusterExchange::join(Operation *combiner, Value ofBlock) {
  Type type = ofBlock.getType();
  Value slot = addBytes(builder, loc, slots, indexConstant(exchanges++ % 2 * kClusterBytes / 2));
  LogicalResult stored = emitIf(isEqual(mapping.threadInBlock, 0), [&] {
    LLVM::StoreOp::create(builder, loc, toMemory(ofBlock), slot, memoryBytes(type));
    return success();
  });
  assert(succeeded(stored) && "stores emit no code that can fail");
  (void)stored;
  synchronize();
  SmallVector<Value> values;
  for (int64_t rank = 0; rank < distribution.tiling.clusterBlocks; ++rank)
    values.push_back(load(slot, rank, type));
  while (values.size() > 1) {
    SmallVector<Value> joined;
    for (size_t left = 0; left < values.size(); left += 2)
      joined.push_back(left + 1 < values.size()
                           ? joinPartialResults(builder, loc, combiner, values[left], values[left + 1])
                           : values[left]);
    values = joined;
  }
  return values.front();
}
