// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Philox4x32-10 and the distributions made from it.
#include "adjoint/Numerics/Random.h"
#include "adjoint/Numerics/Elementary.h"

namespace mlir::ad::numerics {

using Counter = std::array<uint32_t, 4>;

Counter philox4x32(Counter counter, std::array<uint32_t, 2> key) {
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0], second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9; // the golden ratio and sqrt(3) - 1, as the paper has it
    key[1] += 0xBB67AE85;
  }
  return counter;
}

static Counter blockAt(uint64_t seed, uint64_t index) {
  return philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0},
                    {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

float uniformFromBits(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

double uniformFromBits(uint32_t high, uint32_t low) {
  uint64_t bits = uint64_t(high) << 32 | low;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

float uniformAt(uint64_t seed, uint64_t index) { return uniformFromBits(blockAt(seed, index)[0]); }

double uniformDoubleAt(uint64_t seed, uint64_t index) {
  Counter block = blockAt(seed, index);
  return uniformFromBits(block[0], block[1]);
}

double normalDoubleAt(uint64_t seed, uint64_t index) {
  constexpr double twoPi = 6.283185307179586;
  Counter block = blockAt(seed, index);
  double radius = 1.0 - uniformFromBits(block[0], block[1]); // in (0, 1]: its logarithm is finite
  double angle = uniformFromBits(block[2], block[3]);
  return evaluate(Elementary::Sqrt, -2.0 * evaluate(Elementary::Log, radius)) *
         evaluate(Elementary::Cos, twoPi * angle);
}

float normalAt(uint64_t seed, uint64_t index) { return static_cast<float>(normalDoubleAt(seed, index)); }

} // namespace mlir::ad::numerics
