// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments on which functions are tested.
#ifndef ADJOINT_TEST_NUMERICS_SAMPLES_H
#define ADJOINT_TEST_NUMERICS_SAMPLES_H

#include "adjoint/Numerics/ElementType.h"
#include "adjoint/Numerics/Elementary.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace mlir::ad::numerics::test {

/// Numbers that depend on the seed and their position only.
class Stream {
public:
  explicit Stream(uint64_t seed) : seed(seed) {}
  uint64_t next();
  double uniform(double low, double high);

private:
  uint64_t seed, index = 0;
};

/// Zeros, infinities, NaN, the ends of the normal and subnormal ranges, small integers and where functions
/// change their formula, each with adjacent values and both signs. In f32 or f64.
std::vector<double> specialValues(ElementType type);

/// `specialValues`, `perBinade` values of every exponent and sign, and 100 times as many of ordinary size.
std::vector<double> stratifiedValues(ElementType type, int perBinade, Stream &stream);

/// Pairs for a function of two arguments: all pairs of special values, pairs of random binades, and pairs for
/// which the result is neither zero nor infinite.
std::vector<std::pair<double, double>> stratifiedPairs(Elementary function, ElementType type, int count,
                                                       Stream &stream);

/// Every value of a 16- or 8-bit type.
std::vector<double> everyValue(ElementType type);

} // namespace mlir::ad::numerics::test

#endif // ADJOINT_TEST_NUMERICS_SAMPLES_H
