// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionKernel.h"
#include "../Generic/SharedMemory.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

LogicalResult ContractionKernel::emit() {
  tileMapping.bindSizes();
  staging.planOperands();
  shared = sharedMemory(builder, function, layOutSharedMemory(), "shared");
  tileMapping.setGrid();
  return emitLoop(mapping.block, tileMapping.tileCount(), mapping.gridBlocks, [&](Value number) {
    TileOrigin origin = tileMapping.originOf(number);
    return contraction.instruction == MathInstruction::MmaSync ? tensorCores.emit(origin) : simt.emit(origin);
  });
}

// The epilogue reuses the memory of the stages, after the last K tile. Returns the bytes.
int64_t ContractionKernel::layOutSharedMemory() {
  int64_t operandBytes = 0;
  for (StagedOperand &part : staging.operands) {
    int64_t elements = contraction.instruction == MathInstruction::MmaSync
                           ? SwizzledStaging::stageElements(part)
                           : simt.stageElements(part);
    part.offset = operandBytes;
    operandBytes += llvm::alignTo(elements * part.elementBytes() * tile.stages, kBankRowBytes);
  }
  int64_t bytes = std::max(epilogue.rowsPerPass() * epilogue.rowBytes(), operandBytes);
  assert(bytes <= kStaticSharedBytes && "tiles fit into shared memory");
  return bytes;
}
