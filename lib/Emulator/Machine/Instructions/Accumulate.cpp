/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The inner loops of matrix instructions, compiled for each vector length of the CPU. Products of 16-bit
   floats are exact in f32, so each step rounds once, unless a product of bf16 overflows or underflows. The
   steps are in the order of k, for every vector length. */
#include "Accumulate.h"

using namespace adsim;

namespace {

template <uint32_t width>
__attribute__((always_inline)) inline void block(float *accumulators, const float *a, const float *b,
                                                 uint32_t bStride, uint32_t sizeK) {
  float sums[width];
  for (uint32_t column = 0; column < width; ++column)
    sums[column] = accumulators[column];
  for (uint32_t k = 0; k < sizeK; ++k)
    for (uint32_t column = 0; column < width; ++column)
      sums[column] += a[k] * b[k * bStride + column];
  for (uint32_t column = 0; column < width; ++column)
    accumulators[column] = sums[column];
}

__attribute__((always_inline)) inline void rowsOf(float *accumulators, uint32_t accumulatorStride,
                                                  const float *a, uint32_t aStride, const float *b,
                                                  uint32_t bStride, uint32_t rows, uint32_t sizeK,
                                                  uint32_t columns) {
  constexpr uint32_t wide = 64, narrow = 8;
  for (uint32_t row = 0; row < rows; ++row) {
    float *sums = accumulators + row * accumulatorStride;
    const float *factors = a + row * aStride;
    uint32_t column = 0;
    for (; column + wide <= columns; column += wide)
      block<wide>(sums + column, factors, b + column, bStride, sizeK);
    for (; column < columns; column += narrow)
      block<narrow>(sums + column, factors, b + column, bStride, sizeK);
  }
}

using Loop = void(float *, uint32_t, const float *, uint32_t, const float *, uint32_t, uint32_t, uint32_t,
                  uint32_t);

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void loop512(float *c, uint32_t cs, const float *a, uint32_t as,
                                                const float *b, uint32_t bs, uint32_t rows, uint32_t sizeK,
                                                uint32_t columns) {
  rowsOf(c, cs, a, as, b, bs, rows, sizeK, columns);
}
__attribute__((target("avx2"))) void loop256(float *c, uint32_t cs, const float *a, uint32_t as,
                                             const float *b, uint32_t bs, uint32_t rows, uint32_t sizeK,
                                             uint32_t columns) {
  rowsOf(c, cs, a, as, b, bs, rows, sizeK, columns);
}
#endif

void loopBase(float *c, uint32_t cs, const float *a, uint32_t as, const float *b, uint32_t bs, uint32_t rows,
              uint32_t sizeK, uint32_t columns) {
  rowsOf(c, cs, a, as, b, bs, rows, sizeK, columns);
}

Loop *chooseLoop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return loop512;
  if (__builtin_cpu_supports("avx2"))
    return loop256;
#endif
  return loopBase;
}

} // namespace

void adsim::accumulate(float *accumulators, uint32_t accumulatorStride, const float *a, uint32_t aStride,
                       const float *b, uint32_t bStride, uint32_t rows, uint32_t sizeK, uint32_t columns) {
  static Loop *const loop = chooseLoop();
  loop(accumulators, accumulatorStride, a, aStride, b, bStride, rows, sizeK, columns);
}
