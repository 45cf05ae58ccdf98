// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums of 64-bit integers without rounding, in 128 bits.
#ifndef ADJOINT_DIFF_INTEGERSUM_H
#define ADJOINT_DIFF_INTEGERSUM_H

#include <cstdint>
#include <limits>
#include <optional>

namespace mlir::ad::diff {

class IntegerSum {
public:
  void add(int64_t value) { sum += value; }
  void add(uint64_t value) { sum += value; }

  /// Rounded once.
  double toDouble() const { return static_cast<double>(sum); }
  /// The sum, if it has at most 64 bits and is not negative.
  std::optional<uint64_t> toInteger() const {
    bool fits = sum >= 0 && sum <= std::numeric_limits<uint64_t>::max();
    return fits ? std::optional(static_cast<uint64_t>(sum)) : std::nullopt;
  }

private:
  __int128 sum = 0;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_INTEGERSUM_H
