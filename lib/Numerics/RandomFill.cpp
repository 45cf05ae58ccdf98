// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Many elements of a random stream at once. The functions are those of Random.cpp, written so that the
// compiler vectorizes the loop over elements: all functions are inlined, and there are no branches. There is
// a second version for CPUs with AVX2 and FMA, because without FMA each multiply-add is a call into libm. A
// fused multiply-add rounds once wherever it is computed, so both versions give the same bits.
#include "adjoint/Numerics/Random.h"

// Standard headers are included first, so that the attribute only applies to functions of the headers below.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#ifdef __clang__
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif
#include "Math/Logarithm.h"
#include "Math/Roots.h"
#include "Math/Trigonometric.h"
#ifdef __clang__
#pragma clang attribute pop
#endif

#if defined(__x86_64__) && defined(__clang__)
#define ADJOINT_HAS_AVX2_CLONE 1
#endif

namespace mlir::ad::numerics {

namespace {

/// For arguments that never need a slow path: angles are below 2 pi, and the slow path begins at 2^30.
struct BranchFreeBuilder : ScalarBuilder {
  template <class... T, class Slow>
  std::tuple<T...> rarely(bool /*condition*/, std::tuple<T...> usual, Slow /*slow*/) {
    return usual;
  }
};

/// 53 random bits as a multiple of 2^-53, from two words of a Philox block.
inline __attribute__((always_inline)) double toUniform(uint64_t high, uint64_t low) {
  return static_cast<double>(static_cast<int64_t>((high << 32 | low) >> 11)) * 0x1p-53;
}

struct Words {
  uint64_t first, second, third, fourth; // 32 bits each
};

/// philox4x32 of (index, 0) and the seed, with each word in 64 bits.
inline __attribute__((always_inline)) Words philoxAt(uint64_t seed, uint64_t index) {
  constexpr uint64_t low = 0xffffffff;
  Words words{index & low, index >> 32, 0, 0};
  auto key = std::array<uint32_t, 2>{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
#ifdef __clang__
#pragma clang loop unroll(full)
#endif
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * words.first, second = uint64_t(0xCD9E8D57) * words.third;
    words = {(second >> 32) ^ words.second ^ key[0], second & low, (first >> 32) ^ words.fourth ^ key[1],
             first & low};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return words;
}

struct Uniform {
  static inline __attribute__((always_inline)) double from(Words words) {
    return toUniform(words.first, words.second);
  }
};

struct Normal {
  static inline __attribute__((always_inline)) double from(Words words) {
    constexpr double twoPi = 6.283185307179586;
    BranchFreeBuilder b;
    double radius = 1.0 - toUniform(words.first, words.second), angle = toUniform(words.third, words.fourth);
    return sqrt<double>(b, -2.0 * log<double>(b, radius)) * cos<double>(b, twoPi * angle);
  }
};

template <class Distribution>
inline __attribute__((always_inline)) void fillWith(uint64_t seed, uint64_t first, double *values,
                                                    size_t count) {
  for (size_t i = 0; i < count; ++i)
    values[i] = Distribution::from(philoxAt(seed, first + i));
}

#ifdef ADJOINT_HAS_AVX2_CLONE
template <class Distribution>
__attribute__((target("avx2,fma"))) void fillAvx2(uint64_t seed, uint64_t first, double *values,
                                                  size_t count) {
  fillWith<Distribution>(seed, first, values, count);
}
#endif

template <class Distribution> void fill(uint64_t seed, uint64_t first, double *values, size_t count) {
#ifdef ADJOINT_HAS_AVX2_CLONE
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return fillAvx2<Distribution>(seed, first, values, count);
#endif
  fillWith<Distribution>(seed, first, values, count);
}

} // namespace

void fillUniform(uint64_t seed, uint64_t first, double *values, size_t count) {
  fill<Uniform>(seed, first, values, count);
}

void fillNormal(uint64_t seed, uint64_t first, double *values, size_t count) {
  fill<Normal>(seed, first, values, count);
}

} // namespace mlir::ad::numerics
