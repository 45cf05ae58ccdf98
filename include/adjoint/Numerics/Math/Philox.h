// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Philox4x32-10 and the distributions made from its words, over a builder.
#ifndef ADJOINT_NUMERICS_MATH_PHILOX_H
#define ADJOINT_NUMERICS_MATH_PHILOX_H

#include "adjoint/Numerics/Math/Builder.h"
#include <array>

namespace mlir::ad::numerics {

template <class B> using PhiloxWords = std::array<V<B, uint32_t>, 4>;

/// The block of a counter under the key (first, second).
template <class B>
PhiloxWords<B> philox(B &b, PhiloxWords<B> counter, V<B, uint32_t> first, V<B, uint32_t> second) {
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    V<B, uint64_t> even = b.widen(counter[0]) * uint64_t(0xD2511F53);
    V<B, uint64_t> odd = b.widen(counter[2]) * uint64_t(0xCD9E8D57);
    counter = {b.narrow(odd >> 32) ^ counter[1] ^ first, b.narrow(odd),
               b.narrow(even >> 32) ^ counter[3] ^ second, b.narrow(even)};
    first = first + 0x9E3779B9u; // the golden ratio and sqrt(3) - 1, as the paper has it
    second = second + 0xBB67AE85u;
  }
  return counter;
}

/// The block of the counter (low, high, 0, 0) of 64 bits under a key of 64 bits.
template <class B> PhiloxWords<B> philoxAt(B &b, V<B, uint64_t> key, V<B, uint64_t> counter) {
  PhiloxWords<B> words = {b.narrow(counter), b.narrow(counter >> 32), b.constant(0u), b.constant(0u)};
  return philox<B>(b, words, b.narrow(key), b.narrow(key >> 32));
}

/// Two words as one number, the first one in the upper half.
template <class B> V<B, uint64_t> joinWords(B &b, V<B, uint32_t> high, V<B, uint32_t> low) {
  return (b.widen(high) << 32) | b.widen(low);
}

/// A multiple of 2^-24 in [0, 1).
template <class B> V<B, float> uniformFrom(B &b, V<B, uint32_t> word) {
  return b.signedToFloat(word >> 8) * 0x1p-24f;
}

/// A multiple of 2^-53 in [0, 1).
template <class B> V<B, double> uniformFrom(B &b, V<B, uint32_t> high, V<B, uint32_t> low) {
  return b.signedToDouble(joinWords<B>(b, high, low) >> 11) * 0x1p-53;
}

/// A normal number by Box and Muller. `functions` has log, sqrt and cos of a double.
template <class B, class Functions>
V<B, double> normalFrom(B &b, const PhiloxWords<B> &words, Functions functions) {
  constexpr double twoPi = 6.283185307179586;
  // In (0, 1]: its logarithm is finite.
  V<B, double> radius = b.constant(1.0) - uniformFrom<B>(b, words[0], words[1]);
  V<B, double> angle = uniformFrom<B>(b, words[2], words[3]) * twoPi;
  return functions.sqrt(functions.log(radius) * -2.0) * functions.cos(angle);
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_PHILOX_H
