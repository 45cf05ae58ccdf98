/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Sums within matrix instructions of Hopper as two studies describe them (MMA-Sim, arXiv 2511.10909; Khattak
   and Mikaitis, arXiv 2512.07004): terms are aligned to the largest exponent, cut to 25 bits after the point,
   and added; the sum is cut to f32. No order of the terms matters. */
#include "Accumulate.h"

#include <algorithm>
#include <cmath>

using namespace adsim;

namespace {

constexpr int fractionBits = 25;
constexpr int minExponent = -126;

int exponentOf(float value) { return value == 0 ? INT32_MIN / 4 : std::ilogb(value); }

float cutToFloat(double value) {
  auto nearest = static_cast<float>(value);
  bool isLarger = std::isfinite(nearest) && std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return isLarger ? std::nextafter(nearest, 0.0f) : nearest;
}

/// The sum of finite terms. The exponent of a product is the sum of those of its factors.
float alignedSum(float sum, const float *a, const float *b, uint32_t bStride, uint32_t sizeK) {
  int largest = std::max(minExponent, exponentOf(sum));
  for (uint32_t k = 0; k < sizeK; ++k)
    largest = std::max(largest, exponentOf(a[k]) + exponentOf(b[static_cast<size_t>(k) * bStride]));
  auto cut = [&](double term) { return std::trunc(std::ldexp(term, fractionBits - largest)); };
  double total = cut(sum); // a sum of few integers of 27 bits
  for (uint32_t k = 0; k < sizeK; ++k)
    total += cut(static_cast<double>(a[k]) * static_cast<double>(b[static_cast<size_t>(k) * bStride]));
  return cutToFloat(std::ldexp(total, largest - fractionBits));
}

bool areFinite(float sum, const float *a, const float *b, uint32_t bStride, uint32_t sizeK) {
  bool finite = std::isfinite(sum);
  for (uint32_t k = 0; k < sizeK; ++k)
    finite &= std::isfinite(a[k]) && std::isfinite(b[static_cast<size_t>(k) * bStride]);
  return finite;
}

} // namespace

void adsim::accumulateAligned(float *accumulators, uint32_t accumulatorStride, const float *a,
                              uint32_t aStride, const float *b, uint32_t bStride, uint32_t rows,
                              uint32_t sizeK, uint32_t columns) {
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t column = 0; column < columns; ++column) {
      float &sum = accumulators[static_cast<size_t>(row) * accumulatorStride + column];
      const float *left = a + static_cast<size_t>(row) * aStride, *right = b + column;
      if (areFinite(sum, left, right, bStride, sizeK)) {
        sum = alignedSum(sum, left, right, bStride, sizeK);
        continue;
      }
      for (uint32_t k = 0; k < sizeK; ++k)
        sum += left[k] * right[static_cast<size_t>(k) * bStride];
    }
}
