// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the components of the kernel emitter hand to each other: positions in iteration spaces, tensors in
// memory, loop nests, packed operands.

#ifndef ADJOINT_LIB_CODEGEN_CPU_KERNELTYPES_H
#define ADJOINT_LIB_CODEGEN_CPU_KERNELTYPES_H

#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <map>
#include <set>

namespace mlir::ad::cpu {

/// Numbers of the program may be of any size, and wrap like the code that is made of them: the host refuses
/// what lies outside of a tensor before the kernel runs.
inline int64_t wrappingProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrappingSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// One index of a tensor: base + step * lane, or `lanes` (a vector of index) when that is set. An index that
/// `varies` stands for all that a loop still to be made will take.
struct Index {
  Value base;
  int64_t step = 0;
  Value lanes;
  bool varies = false;
  bool isUniform() const { return !lanes && step == 0; }
  static Index varying() { return {nullptr, 0, nullptr, true}; }
  bool operator<(const Index &other) const {
    return std::make_tuple(base.getAsOpaquePointer(), step, lanes.getAsOpaquePointer()) <
           std::make_tuple(other.base.getAsOpaquePointer(), other.step, other.lanes.getAsOpaquePointer());
  }
};
using Position = SmallVector<Index, 4>;
/// Elements at most so far apart are shuffled out of whole vectors; farther ones are gathered.
inline constexpr int64_t kLongestStride = 8;

inline bool varies(const Position &position) {
  return llvm::any_of(position, [](const Index &index) { return index.varies; });
}

/// A dense row-major tensor in memory.
struct Buffer {
  Value pointer;
  Type element; // the tensor's element type
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes; // index values, one per dimension
};

/// The type that an element has in memory: integers for i1 and for floats below 32 bits.
Type memoryType(Type element);
int64_t memoryBytes(Type element);

/// The operation that produces a reduction's next accumulator.
Operation *combiningOp(linalg::GenericOp generic);

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

/// Whether some loop is reduced: an output does not cover the whole iteration space.
bool reduces(linalg::GenericOp generic);

/// Whether every point is computed from the operands' elements at the same point.
bool isPointwise(linalg::GenericOp generic);

using Visited = std::set<std::pair<const void *, std::vector<Index>>>;

using Key = std::pair<const void *, std::pair<std::vector<Index>, std::pair<int64_t, const void *>>>;

/// Units [begin, end) of the loops that threads share; null where there are none.
struct UnitRange {
  Value begin, end;
};

/// A part of one axis, whatever the units are.
struct AxisRange {
  int64_t axis = -1; // none
  Value lower, upper;
};

/// What a nest does at a set of positions.
using Store = function_ref<LogicalResult(ArrayRef<Position>)>;

struct Nest {
  SmallVector<Value> sizes;
  SmallVector<int64_t> shape;
  SmallVector<Value> roots; // what is evaluated at the positions
  bool vectorize = true;
  SmallVector<int64_t> rowAxes;  // which a block enumerates as one
  bool blocked = false;          // sums into points: columns in blocks, rows and vectors in tiles
  int64_t rows = 1, vectors = 1; // how many are evaluated together
  int64_t columns = 0;           // of a block
  int64_t stripOfBlocks = 0;     // rows of blocks of a transposition that follow each other
  int64_t tileOfUnits = 0;       // units of a block begin at multiples of so many rows; 0: there is one unit
  SmallVector<UnitLoop> unitLoops; // that threads share
  UnitRange units;                 // of them, which this call runs
  bool inPlace = false;            // no operand is packed
  int64_t shortRowAxis = -1;       // along which vectors run, in place of a short last axis
  int64_t shortRowColumns = 0;     // of that axis; 0: the nest lies over rows, without their columns
  AxisRange range;
  /// Rows of a block, ShapedType::kDynamic when the program does not say how many.
  int64_t rowCount() const;
};

/// Results that have the shape of a space, and those with one element per row of it.
struct RowRoots {
  SmallVector<Value> whole, perRow;
  SmallVector<Buffer> wholeBuffers, perRowBuffers;
};

using BlockCode = function_ref<FailureOr<SmallVector<Value>>(Value lower, Value upper)>;

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

class KernelEmitter;

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_KERNELTYPES_H
