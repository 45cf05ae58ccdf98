// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Types that the components of a kernel emitter exchange: positions in iteration spaces, tensors in
// memory, loop nests.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELTYPES_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELTYPES_H

#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <map>
#include <set>

namespace mlir::ad::codegen {

/// Numbers of the program may be of any size, and wrap like the code that is made of them: the host refuses
/// accesses outside of a tensor before the kernel runs.
inline int64_t wrappingProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrappingSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// The number that the value is known to be.
inline std::optional<int64_t> constantOf(Value value) {
  return getConstantIntValue(getAsOpFoldResult(value));
}

/// One index of a tensor: base + step * lane, or `lanes` (a vector of index) when that is set. An index that
/// `varies` represents all indices of a loop that is not emitted yet.
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

/// Whether some loop is reduced: an output does not cover the whole iteration space.
bool reduces(linalg::GenericOp generic);

/// Whether an operation that `output` is computed from satisfies the predicate.
bool dependsOn(Value output, function_ref<bool(linalg::GenericOp)> predicate);

/// Whether an element costs much: a division, a square root, or an elementary function.
bool isExpensive(linalg::GenericOp generic);

/// Whether every point is computed from the operands' elements at the same point.
bool isPointwise(linalg::GenericOp generic);

/// The tensor whose elements the kernel converts, once or several times, to those of this one; null if it
/// computes the tensor in another way.
Value convertedFrom(Value tensor);

using Visited = std::set<std::pair<const void *, std::vector<Index>>>;

using Key = std::pair<const void *, std::pair<std::vector<Index>, std::pair<int64_t, const void *>>>;

/// Units [begin, end) of the loops that threads divide; null if there are none.
struct UnitRange {
  Value begin, end;
};

/// A part of one axis, whatever the units are.
struct AxisRange {
  int64_t axis = -1; // none
  Value lower, upper;
};

/// The code of a nest at a set of positions.
using Store = function_ref<LogicalResult(ArrayRef<Position>)>;

struct Nest {
  SmallVector<Value> sizes;
  SmallVector<int64_t> shape;
  SmallVector<Value> outputs; // which are evaluated at the positions
  bool vectorize = true;
  SmallVector<int64_t> rowAxes;  // which a block enumerates as one
  bool blocked = false;          // reduces into points: columns in blocks, rows and vectors in tiles
  int64_t rows = 1, vectors = 1; // unroll factors
  int64_t columns = 0;           // of a block
  int64_t stripOfBlocks = 0;     // rows of consecutive blocks of a transposition
  int64_t tileOfUnits = 0;       // units of a block begin at multiples of so many rows; 0: there is one unit
  SmallVector<UnitLoop> unitLoops; // that threads divide
  UnitRange units;                 // of them, which this call runs
  bool inPlace = false;            // no operand is packed
  int64_t shortRowAxis = -1;       // along which vectors run, in place of a short last axis
  int64_t shortRowColumns = 0;     // of that axis; 0: the nest has rows, without their columns
  AxisRange range;
  /// Rows of a block, ShapedType::kDynamic if that is dynamic.
  int64_t rowCount() const;
  /// The last axis that is longer than one: it is contiguous in the result. -1 if there is none.
  int64_t laneAxis() const;
};

/// Results that have the shape of a space, and those with one element per row of it.
struct RowOutputs {
  SmallVector<Value> whole, perRow;
  SmallVector<Buffer> wholeBuffers, perRowBuffers;
};

using BlockCode = function_ref<FailureOr<SmallVector<Value>>(Value lower, Value upper)>;

class KernelEmitter;

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELTYPES_H
