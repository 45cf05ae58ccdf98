// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which elements of an iteration space a thread, a warp or a thread block computes: thread numbers,
// grid-stride loops, and barriers. A loop takes its start and step from the numbers here, so any grid
// computes the same bits.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_THREADMAPPING_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_THREADMAPPING_H

#include "GPUComponent.h"

namespace mlir::ad::device {

class ThreadMapping : public GPUComponent {
public:
  using GPUComponent::GPUComponent;

  /// Reads the thread and block numbers, at the start of the function.
  void bind();

  Value elementCount(ValueRange sizes);
  using KernelComponent::positionOfElement;

  void synchronizeWarp();
  void synchronizeBlock();

  /// Scalar code for a while, in which the threads of a warp compute different values.
  class PerThread {
  public:
    explicit PerThread(ThreadMapping &mapping) : mapping(mapping), before(mapping.perThread) {
      mapping.perThread = true;
    }
    ~PerThread() { mapping.perThread = before; }

  private:
    ThreadMapping &mapping;
    bool before;
  };

  bool perThread = false;            // otherwise all threads of a warp compute the same values
  Value threadInBlock, blockThreads; // number of the thread in its block, and how many threads a block has
  Value block, gridBlocks;           // number of the block in the grid, and how many blocks there are
  Value thread, gridThreads;         // the same of threads in the grid
  Value warp, gridWarps;             // the same of warps in the grid
  Value lane;                        // number of the thread in its warp
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_THREADMAPPING_H
