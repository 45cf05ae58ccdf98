// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where the size of a dimension comes from. Two dimensions with the same origin have the same size in every
// run; the analysis reads operations and builds none, so that passes which use it stay idempotent.

#ifndef ADJOINT_DIALECT_AD_IR_SIZES_H
#define ADJOINT_DIALECT_AD_IR_SIZES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <limits>

namespace mlir::ad {
/// The origin of a size: a number, an index value, or a dimension of a tensor that nothing more is known
/// about.
struct SizeOrigin {
  int64_t number = -1;
  Value value;
  int64_t dimension = -1;

  bool operator==(const SizeOrigin &other) const {
    return number == other.number && value == other.value && dimension == other.dimension;
  }
  bool operator!=(const SizeOrigin &other) const { return !(*this == other); }
};

/// Remembers what it has seen: keep one only as long as no operation that it may have looked at is erased.
class SizeAnalysis {
public:
  /// Looks at no more than `reach` new dimensions per query; sizes beyond them count as unknown.
  explicit SizeAnalysis(size_t reach = std::numeric_limits<size_t>::max()) : reach(reach) {}

  SizeOrigin originOfSize(Value tensor, int64_t dimension);
  SizeOrigin originOfIndex(Value index);

  /// Same rank and the same origin of every size.
  bool surelySameShape(Value lhs, Value rhs);

private:
  SizeOrigin trace(const SizeOrigin &start);
  bool visit(const SizeOrigin &size);
  SizeOrigin lookup(const SizeOrigin &size) const;

  llvm::DenseMap<std::pair<Value, int64_t>, SizeOrigin> known;
  size_t reach;
};

/// On an ad.broadcast in a fusion: the axes of its operand that are not of size 1 by its type have the sizes
/// of the result's. ad-fuse says so where it is sure, since a body has no check.
inline constexpr llvm::StringLiteral kSameSizesAttr = "ad.same_sizes";

/// Bytes of an element in memory: i1 has one.
int64_t elementBytes(RankedTensorType type);

/// Bytes of a tensor, or, where sizes are dynamic, its bytes per element of their product. The largest number
/// if there is no such number.
int64_t bytesPerUnit(RankedTensorType type);

/// The size as an index value.
Value materializeSize(OpBuilder &builder, Location loc, const SizeOrigin &origin);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_SIZES_H
