// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that only transpose: square blocks in registers, stores that bypass the caches.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_BLOCKTRANSPOSE_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_BLOCKTRANSPOSE_H

#include "../../Kernel/Outputs/ElementStores.h"
#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../Loops/WorkDistribution.h"

namespace mlir::ad::cpu {

class BlockTranspose : public CPUComponent {
public:
  BlockTranspose(CPUContext &context, MemoryAccess &memoryAccess, AccessMaps &maps,
                 KernelOutputs &kernelOutputs, ElementStores &stores, WorkDistribution &distribution)
      : CPUComponent(context), memoryAccess(memoryAccess), maps(maps), kernelOutputs(kernelOutputs),
        stores(stores), distribution(distribution) {}

  /// Axes of the result, the fastest last: rows are contiguous in the operand, columns in the result.
  struct BlockAxes {
    SmallVector<int64_t> rows, columns;
  };
  std::optional<BlockAxes> transposedAxes(Value output);
  LogicalResult emitTranspose(Value output, const BlockAxes &axes);

private:
  int64_t transposedLanes(Value output);
  bool mayStream(Value output, const BlockAxes &axes);
  void chooseUnitsOfTranspose(CPUNest &nest, const BlockAxes &axes);
  LogicalResult emitTransposeLoops(const CPUNest &nest, const BlockAxes &axes, int64_t next, UnitRange units,
                                   Position &position);
  LogicalResult emitTransposeBlocks(const CPUNest &nest, const BlockAxes &axes, UnitRange units,
                                    const Position &outer);
  LogicalResult emitTransposeBlock(Value output, const BlockAxes &axes, const Position &outer, Value row,
                                   Value column);
  void setDelinearized(Position &position, ArrayRef<int64_t> axes, Value linear, ArrayRef<int64_t> order);
  void stream(const Buffer &buffer, const Position &position, Value value);

  bool streams = false; // blocks of a transposition bypass the caches

  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  KernelOutputs &kernelOutputs;
  ElementStores &stores;
  WorkDistribution &distribution;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_BLOCKTRANSPOSE_H
