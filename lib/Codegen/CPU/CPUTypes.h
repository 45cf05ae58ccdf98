// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Types that the components of the CPU kernel emitter exchange, in addition to the types of all targets.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUTYPES_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUTYPES_H

#include "../Kernel/KernelTypes.h"
#include "adjoint/Codegen/Target/CPUs.h"

namespace mlir::ad::cpu {

using namespace codegen;

/// Loops over the axes of a result, or over rows of it, with the vectors, blocks and units of work of a CPU.
struct CPUNest : StatementNest {
  CPUNest() = default;
  CPUNest(StatementNest nest) : StatementNest(std::move(nest)) {}
  CPUNest(Nest nest) : StatementNest(std::move(nest)) {}

  SmallVector<int64_t> rowAxes; // which a block enumerates as one
  bool blocked = false;         // reduces into points: columns in blocks, rows and vectors in tiles
  int64_t rows = 1;             // in an iteration
  int64_t columns = 0;          // of a block
  int64_t stripOfBlocks = 0;    // rows of consecutive blocks of a transposition
  int64_t tileOfUnits = 0;      // units of a block begin at multiples of so many rows; 0: there is one unit
  SmallVector<UnitLoop> unitLoops; // that threads divide
  UnitRange units;                 // of them, which this call runs
  bool inPlace = false;            // no operand is packed, but for those of a part of K
  Value firstK, sizeOfPart;        // the part of K that is computed; null: all of it
  int64_t longestPart = 0;         // elements of such a part; 0: all of K
  int64_t shortRowAxis = -1;       // along which vectors run, in place of a short last axis
  int64_t shortRowColumns = 0;     // of that axis; 0: the nest has rows, without their columns
  /// Rows of a block, ShapedType::kDynamic if that is dynamic.
  int64_t rowCount() const;
};

/// Whether the type is that of a tensor of static shape with more bytes.
bool isLargerThan(Type type, int64_t bytes);

/// Whether the tensor is so large that it does not stay in the caches from one kernel to the next.
bool isFromMemory(Type type);

/// Whether one row times this matrix is faster in a sweep, which alternates between long parts of 16 rows of
/// the matrix, than in tiles of columns, which read all rows. A sweep is faster if the matrix is in memory.
/// If it is in the last-level cache, tiles are faster for rows that are a multiple of the page size apart:
/// the 16 rows of a sweep then map to few sets of the first-level cache. Measured on Zen 4 for matrices of 1
/// to 100 MB. Products of two and more rows seldom gain from tiles.
bool isSweptFaster(Type type);

using ReductionsAtPoints = llvm::SmallPtrSet<Operation *, 4>;

/// The reductions that a nest over the outputs needs at its own points and nowhere else: point p of an output
/// is made of point p of the reduction. The rows and columns of a tile are those of such a reduction. Others
/// are evaluated at points of their own: in the loop of another reduction, transposed, or at computed
/// indices.
ReductionsAtPoints reductionsAtPoints(ArrayRef<Value> outputs);

/// Whether it adds products.
bool isContraction(linalg::GenericOp generic);

/// Whether it is a convolution: a contraction over several loops, which reads windows of an operand. All
/// sizes are static.
bool isConvolution(linalg::GenericOp generic);

/// K of the first contraction that computes the outputs, 0 if it is dynamic.
int64_t reducedSize(ArrayRef<Value> outputs);

/// The length that a dynamic K is assumed to have, for the sizes of blocks and of units of work.
inline constexpr int64_t kUsualK = 1024;

struct PartialResults {
  int64_t length = 0;         // elements that one partial result reduces
  Value total, count, number; // of elements and of partial results, and the one that is being emitted
  Buffer buffer;              // [number, offset in the result]
  int64_t columns = 0;        // of a unit of a streamed reduction; 0: a unit is one partial result
  Value units;
};

struct PackedOperand {
  OpOperand *operand;                  // of a contraction
  AffineMap map;                       // from the loops of the contraction to the axes of the operand
  int64_t columnAxis = -1, axisK = -1; // of the operand
  int64_t sizeK = 0, tile = 0;         // of a panel: elements along K, rounded up, and columns
  int64_t maxK = 0;                    // of a dynamic K: as many elements along it fit the panels
  Type memory = {};                    // of an element: `group` adjacent elements along K
  int64_t group = 1;
  bool biased = false;    // each byte of i8 plus 128, the unsigned operand of vpdpbusd
  bool inPlace = false;   // read in place, with prefetches, since there is one tile of rows
  bool prepacked = false; // an argument in PackedLayout, which was packed before the kernel
  bool flat = false;      // along K are several loops of a convolution, which the operand has in order
  Value firstK = {}, sizeOfPart = {}; // of a flat operand: the part of K that is packed; null: all of it
  Value pointer = {};
  Value stride = {};                              // elements of a panel
  Value start = {};                               // first column of the block
  bool filling = false;                           // the code being emitted reads it in place, and packs it
  llvm::SmallPtrSet<const void *, 4> filled = {}; // values that have been stored
  bool isDynamicK() const { return ShapedType::isDynamic(sizeK); }
  bool mayNotFit() const { return isDynamicK() && !inPlace; }
  bool isTransposed() const { return columnAxis + 1 != int64_t(map.getNumResults()); }
};

/// Whether vectors along an axis are whole up to its end, whatever its size is at run time.
inline bool hasWholeVectors(int64_t size, int64_t lanes) {
  return !ShapedType::isDynamic(size) && size % lanes == 0;
}

/// Whether rows of so many elements begin a multiple of the page size apart; not known of dynamic sizes.
inline bool areRowsPagesApart(int64_t size, int64_t elementBytes) {
  return !ShapedType::isDynamic(size) && size * elementBytes % kCore.pageBytes == 0;
}

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUTYPES_H
