// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums of 64-bit integers without rounding, in 128 bits.
#ifndef ADJOINT_DIFF_INTEGERSUM_H
#define ADJOINT_DIFF_INTEGERSUM_H

#include <cstdint>

namespace mlir::ad::diff {

class IntegerSum {
public:
  void add(int64_t value) {
    uint64_t before = low;
    low += static_cast<uint64_t>(value);
    high += (value < 0 ? -1 : 0) + (low < before ? 1 : 0);
  }
  /// Rounded: a long double has the 64 bits of each half.
  long double toLongDouble() const {
    constexpr long double half = 0x1p64L;
    return static_cast<long double>(high) * half + static_cast<long double>(low);
  }

private:
  // Two's complement.
  uint64_t low = 0;
  int64_t high = 0;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_INTEGERSUM_H
