// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Philox4x32-10 and the distributions made from it, on numbers. Math/Philox.h defines them.
#include "adjoint/Numerics/Random.h"
#include "adjoint/Numerics/Elementary.h"
#include "adjoint/Numerics/Math/Philox.h"

namespace mlir::ad::numerics {

using Counter = std::array<uint32_t, 4>;

Counter philox4x32(Counter counter, std::array<uint32_t, 2> key) {
  ScalarBuilder b;
  return philox<ScalarBuilder>(b, counter, key[0], key[1]);
}

static Counter blockAt(uint64_t seed, uint64_t index) {
  ScalarBuilder b;
  return philoxAt<ScalarBuilder>(b, seed, index);
}

float uniformFromBits(uint32_t bits) {
  ScalarBuilder b;
  return uniformFrom<ScalarBuilder>(b, bits);
}

double uniformFromBits(uint32_t high, uint32_t low) {
  ScalarBuilder b;
  return uniformFrom<ScalarBuilder>(b, high, low);
}

float uniformAt(uint64_t seed, uint64_t index) { return uniformFromBits(blockAt(seed, index)[0]); }

double uniformDoubleAt(uint64_t seed, uint64_t index) {
  Counter block = blockAt(seed, index);
  return uniformFromBits(block[0], block[1]);
}

namespace {
struct EvaluatedFunctions {
  double log(double x) const { return evaluate(Elementary::Log, x); }
  double sqrt(double x) const { return evaluate(Elementary::Sqrt, x); }
  double cos(double x) const { return evaluate(Elementary::Cos, x); }
};
} // namespace

double normalFromBits(const std::array<uint32_t, 4> &words) {
  ScalarBuilder b;
  return normalFrom<ScalarBuilder>(b, words, EvaluatedFunctions());
}

double normalDoubleAt(uint64_t seed, uint64_t index) { return normalFromBits(blockAt(seed, index)); }

float normalAt(uint64_t seed, uint64_t index) { return static_cast<float>(normalDoubleAt(seed, index)); }

} // namespace mlir::ad::numerics
