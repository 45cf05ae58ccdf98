/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Single elements of tensors as host values, for checks, printing and generated arguments. */
#ifndef ADJOINT_SUPPORT_ELEMENTS_H
#define ADJOINT_SUPPORT_ELEMENTS_H

#include <cstdint>

namespace adrt {

/// The element at `element`, exactly except for 64-bit integers beyond 2^53.
double loadAsDouble(int32_t type, const void *element);
/// The element of an integer type, or a float truncated towards zero.
int64_t loadAsInteger(int32_t type, const void *element);
/// Stores `value` rounded once to nearest even. Overflow and NaN follow the casts of the specification.
void storeFromDouble(int32_t type, double value, void *element);
/// Stores an integer, wrapped to the width of an integer type or rounded to a float.
void storeFromInteger(int32_t type, int64_t value, void *element);

} // namespace adrt

#endif // ADJOINT_SUPPORT_ELEMENTS_H
