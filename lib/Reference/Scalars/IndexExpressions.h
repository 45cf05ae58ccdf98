// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The values of index expressions of any program, which need not be in a range that makes sense.

#ifndef ADJOINT_LIB_REFERENCE_SCALARS_INDEXEXPRESSIONS_H
#define ADJOINT_LIB_REFERENCE_SCALARS_INDEXEXPRESSIONS_H

#include "mlir/IR/AffineExpr.h"
#include <optional>

namespace mlir::ad::reference {

/// The value in 64 bits, which wrap. Nothing if the expression divides by a number below 1: MLIR gives such a
/// quotient no meaning.
std::optional<int64_t> evaluateIndex(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols = {});

/// Whether `size` elements from `first` on, `step` apart, lie between 0 and `have`; there is at least one.
/// `last` is the index of the last one, or the nearest number of 64 bits.
bool isInside(int64_t first, int64_t size, int64_t step, int64_t have, int64_t &last);

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_SCALARS_INDEXEXPRESSIONS_H
