// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions in nested chains that thread blocks compute tile by tile (decision 0046).

#ifndef ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANMATCH_H
#define ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANMATCH_H

#include "../Reduction/Division.h"

namespace mlir::ad::device {

/// The only operation that computes the only result of a kernel.
struct TiledScan {
  linalg::GenericOp op;
  int64_t block, blocksOfTile; // of the order
  bool isContiguous;           // memory of the result along the scanned axis
  bool readsBefore;            // the result of a step is made from the accumulator before it
  Value combined;              // with the accumulator, in each step
};

/// Nothing for other kernels, with the reason.
std::optional<TiledScan> matchTiledScan(KernelOp kernel, std::string &reason);

/// Adjacent chains that a thread block computes together, when their lengths are known; else the fewest.
int64_t chainsPerBlock(const TiledScan &scan, int64_t length);

/// The division of the tiles of few long chains over the grid, if it can be faster.
std::optional<Division> divideScan(const TiledScan &scan);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANMATCH_H
