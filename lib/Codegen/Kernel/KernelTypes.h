// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Types that the components of a kernel emitter exchange: positions in iteration spaces, tensors in
// memory, loop nests.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELTYPES_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELTYPES_H

#include "Values/Producers.h"
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

/// A dense row-major tensor in memory, or a part of one.
struct Buffer {
  Value pointer;
  Type element; // the tensor's element type
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes; // index values, one per dimension
  // Of the tensor that this is a part of, by which rows are apart; empty where it is all of it.
  SmallVector<int64_t, 0> wholeShape = {};
  SmallVector<Value, 0> wholeSizes = {};
  ArrayRef<int64_t> rowShape() const { return wholeShape.empty() ? ArrayRef(shape) : ArrayRef(wholeShape); }
  ArrayRef<Value> rowSizes() const { return wholeSizes.empty() ? ArrayRef(sizes) : ArrayRef(wholeSizes); }
};

/// The type that an element has in memory: integers for i1 and for floats below 32 bits.
Type memoryType(Type element);
int64_t memoryBytes(Type element);

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

/// Loops over the axes of a result.
struct Nest {
  SmallVector<Value> sizes;
  SmallVector<int64_t> shape;
  SmallVector<Value> outputs; // which are evaluated at the positions
  /// The last axis that is longer than one: it is contiguous in the result. -1 if there is none.
  int64_t laneAxis() const;
};

/// Loops over a part of a result, for targets that divide results along an axis and vectorize the last one.
struct StatementNest : Nest {
  StatementNest() = default;
  StatementNest(Nest nest) : Nest(std::move(nest)) {}
  AxisRange range;
  bool vectorize = true;
  int64_t vectors = 1; // in an iteration
};

/// Results that have the shape of a space, and those with one element per row of it.
struct RowOutputs {
  SmallVector<Value> whole, perRow;
  SmallVector<Buffer> wholeBuffers, perRowBuffers;
};

using BlockCode = function_ref<FailureOr<SmallVector<Value>>(Value lower, Value upper)>;

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELTYPES_H
