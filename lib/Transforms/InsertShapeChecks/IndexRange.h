// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_INDEXRANGE_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_INDEXRANGE_H

#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::ad {

/// All numbers from `low` to `high`.
struct IndexRange {
  int64_t low, high;
};

/// The range of an integer or index that scalar code of a linalg.generic computes, over loops of these sizes:
/// of constants, loop indices, sums, products, quotients, remainders, minima, maxima and conversions. None
/// where nothing is known.
std::optional<IndexRange> rangeOfIndex(Value value, llvm::ArrayRef<int64_t> loops);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_INDEXRANGE_H
