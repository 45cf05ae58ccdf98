// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3", 2011). A number depends only on seed and index, so a tensor can be filled in any order, on any
// target.
#ifndef ADJOINT_NUMERICS_RANDOM_H
#define ADJOINT_NUMERICS_RANDOM_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace mlir::ad::numerics {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Multiples of 2^-24 (2^-53) in [0, 1), from one word (two words) of random bits.
float uniformFromBits(uint32_t bits);
double uniformFromBits(uint32_t high, uint32_t low);

/// A normal number by Box and Muller, from the four words of a block.
double normalFromBits(const std::array<uint32_t, 4> &words);

/// Element `index` of the stream of `seed`: counter (index, 0), key (seed). Uniform in [0, 1); normal by Box
/// and Muller with the functions of Elementary.h in double, rounded.
float uniformAt(uint64_t seed, uint64_t index);
double uniformDoubleAt(uint64_t seed, uint64_t index);
float normalAt(uint64_t seed, uint64_t index);
double normalDoubleAt(uint64_t seed, uint64_t index);

/// `values[i]` = uniformDoubleAt(seed, first + i), or normalDoubleAt, with the same bits but several times as
/// fast.
void fillUniform(uint64_t seed, uint64_t first, double *values, size_t count);
void fillNormal(uint64_t seed, uint64_t first, double *values, size_t count);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_RANDOM_H
