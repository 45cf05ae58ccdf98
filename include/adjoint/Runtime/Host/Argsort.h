/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The sort that kernels of ad.argsort call. */
#ifndef ADJOINT_RUNTIME_HOST_ARGSORT_H
#define ADJOINT_RUNTIME_HOST_ARGSORT_H

#include <cstdint>

/// Writes the positions of the elements of each row of `keys` in [begin, end) in the order of ad.argsort. All
/// rows have `length` elements of the adrt_type `type`, which is not i1. It always succeeds: without memory
/// for a radix sort it sorts in place.
extern "C" void adrt_argsort(const void *keys, int64_t *positions, int64_t begin, int64_t end, int64_t length,
                             int32_t type, int32_t isDescending);

#endif /* ADJOINT_RUNTIME_HOST_ARGSORT_H */
