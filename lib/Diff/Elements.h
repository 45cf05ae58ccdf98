// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Many elements of a tensor at once: as doubles, and as positions among the values of their type.
#ifndef ADJOINT_LIB_DIFF_ELEMENTS_H
#define ADJOINT_LIB_DIFF_ELEMENTS_H

#include "adjoint/Runtime/adrt.h"

#include <cstdint>

namespace mlir::ad::diff {

/// Converts `count` elements exactly, except for 64-bit integers beyond 2^53.
void toDoubles(adrt_type type, const char *elements, int64_t count, double *values);

/// The ULP distance of a NaN from a number.
constexpr uint64_t kUnordered = UINT64_MAX;

/// The largest ULP distance of a pair of elements of one type. It counts the steps from a value of the type
/// to the next one; an infinity follows the largest finite number, the zeros are one value, NaN is at
/// distance 0 from NaN. Of integers it is the difference.
uint64_t maxUlpDistance(adrt_type type, const char *left, const char *right, int64_t count);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_DIFF_ELEMENTS_H
