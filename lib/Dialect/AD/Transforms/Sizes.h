// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where the size of a dimension comes from. Two dimensions with the same origin have the same size in every
// run; the analysis reads operations and builds none, so that passes which use it stay idempotent.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_SIZES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_SIZES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

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
  SizeOrigin originOfSize(Value tensor, int64_t dimension);
  SizeOrigin originOfIndex(Value index);

  /// Same rank and the same origin of every size.
  bool surelySameShape(Value lhs, Value rhs);

private:
  std::optional<SizeOrigin> inElementwise(Operation *op, int64_t dimension);
  template <typename ReduceOp> std::optional<SizeOrigin> inReduction(ReduceOp op, int64_t dimension);
  std::optional<SizeOrigin> inContraction(Operation *op, int64_t dimension);
  std::optional<SizeOrigin> inOperation(OpResult result, int64_t dimension);

  llvm::DenseMap<std::pair<Value, int64_t>, SizeOrigin> known;
};

/// The size as an index value.
Value materializeSize(OpBuilder &builder, Location loc, const SizeOrigin &origin);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_SIZES_H
