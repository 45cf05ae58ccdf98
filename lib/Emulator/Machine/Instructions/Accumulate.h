/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The inner loop that mma.sync and wgmma share. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_ACCUMULATE_H
#define ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_ACCUMULATE_H

#include <cstdint>

namespace adsim {

/// accumulators[row][column] += a[row][k] * b[k][column] in ascending k, for `columns` columns, a multiple
/// of 8.
void accumulate(float *accumulators, uint32_t accumulatorStride, const float *a, uint32_t aStride,
                const float *b, uint32_t bStride, uint32_t rows, uint32_t sizeK, uint32_t columns);

/// The same with all products of an element added at once, by the published model of Hopper. Factors are f16
/// or bf16 numbers.
void accumulateAligned(float *accumulators, uint32_t accumulatorStride, const float *a, uint32_t aStride,
                       const float *b, uint32_t bStride, uint32_t rows, uint32_t sizeK, uint32_t columns);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_ACCUMULATE_H
