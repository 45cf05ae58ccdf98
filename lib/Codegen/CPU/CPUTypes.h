// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the components of the CPU kernel emitter hand to each other, besides the types that all targets have.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUTYPES_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUTYPES_H

#include "../Kernel/KernelEmitter.h"

namespace mlir::ad::cpu {

using namespace codegen;

/// Whether the tensor is so large that it does not stay in the caches from one kernel to the next.
bool isFromMemory(Type type);

/// Whether one row times this matrix is faster when long pieces of its rows are read side by side than in
/// tiles of columns, which touch all rows. It is when the matrix comes from memory. While the shared cache
/// holds it, tiles win where rows are a multiple of the page size apart: 16 rows read side by side then share
/// few places of the first-level cache. Measured on Zen 4 for matrices of 1 to 100 MB. Two and more rows gain
/// from tiles too seldom.
bool isSweptFaster(Type type);

/// The reduced size of the first contraction that the roots are computed by, 0 when it is not known.
int64_t reducedSize(ArrayRef<Value> roots);

struct PartialSums {
  int64_t length = 0;         // elements that one partial result takes
  Value total, count, number; // of elements and of partial results, and the one that is being emitted
  Buffer buffer;              // [number, place in the result]
  int64_t columns = 0;        // of a unit of a streamed reduction; 0: a unit is one partial result
  Value units;
};

struct PackedOperand {
  OpOperand *operand;                      // of a contraction
  AffineMap map;                           // from the loops of the contraction to the axes of the operand
  int64_t columnAxis = -1, depthAxis = -1; // of the operand
  int64_t depth = 0, tile = 0;             // of a panel: elements along the depth, rounded up, and columns
  Type memory = {};                        // of an element: `group` neighbours along the depth
  int64_t group = 1;
  bool biased = false; // each byte of i8 plus 128, the unsigned operand of vpdpbusd
  bool once = false;   // read in place, fetched ahead: there is one tile of rows
  bool before = false; // the kernel runs: an argument in PackedLayout
  Value pointer = {};
  Value start = {};                               // first column of the block
  bool filling = false;                           // read in place, and stored where it is packed
  llvm::SmallPtrSet<const void *, 4> filled = {}; // values that have been stored
  bool isTransposed() const { return columnAxis + 1 != int64_t(map.getNumResults()); }
};

class CPUKernelEmitter;

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUTYPES_H
