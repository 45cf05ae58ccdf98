// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Norms of differences. Loops have one chain for each lane, as those of MaxDiff.
#include "adjoint/Diff/NormDifference.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::ad::diff;
using llvm::ArrayRef;

namespace {

constexpr size_t lanes = 8;
/// Differences of such values are finite.
constexpr double usualLimit = std::numeric_limits<double>::max() / 4;
/// A factor of 2^1074, for the smallest subnormal number, would overflow.
constexpr int minScale = -1000;

/// Calls `step(lane, index)` for each index, in groups of all lanes that the compiler vectorizes.
template <typename Step> void forEachLane(size_t count, Step step) {
  size_t whole = count - count % lanes;
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      step(lane, i + lane);
  for (size_t i = whole; i < count; ++i)
    step(i - whole, i);
}

double sumOf(const double (&parts)[lanes]) {
  double sum = 0;
  for (double part : parts)
    sum += part;
  return sum;
}

void takeLarger(double &largest, double magnitude) { largest = magnitude > largest ? magnitude : largest; }

double largestOf(ArrayRef<double> values) {
  double largest[lanes] = {};
  forEachLane(values.size(), [&](size_t lane, size_t i) { takeLarger(largest[lane], std::fabs(values[i])); });
  return *std::max_element(largest, largest + lanes);
}

} // namespace

void VectorNorm::add(ArrayRef<double> values, double largest, int exponent) {
  if (largest == 0)
    return;
  int magnitude = 0;
  double mantissa = std::frexp(largest, &magnitude);
  magnitude += exponent;
  if (peak == 0 || std::pair(magnitude, mantissa) > std::pair(peakExponent, peak)) {
    peak = mantissa;
    peakExponent = magnitude;
  }
  int wanted = std::max(magnitude, minScale);
  if (squares == 0) {
    scale = wanted;
  } else if (wanted > scale) {
    squares = std::ldexp(squares, 2 * (scale - wanted));
    scale = wanted;
  }
  double factor = std::ldexp(1.0, exponent - scale), parts[lanes] = {};
  forEachLane(values.size(), [&](size_t lane, size_t i) {
    double scaled = values[i] * factor;
    parts[lane] += scaled * scaled;
  });
  squares += sumOf(parts);
}

double VectorNorm::getLargest() const { return std::ldexp(peak, peakExponent); }

double VectorNorm::l2(const VectorNorm &difference, const VectorNorm &reference) {
  if (reference.isZero())
    return std::ldexp(std::sqrt(difference.squares), difference.scale);
  return std::ldexp(std::sqrt(difference.squares / reference.squares), difference.scale - reference.scale);
}

double VectorNorm::max(const VectorNorm &difference, const VectorNorm &reference) {
  if (reference.isZero())
    return difference.getLargest();
  return std::ldexp(difference.peak / reference.peak, difference.peakExponent - reference.peakExponent);
}

void NormDifference::add(ArrayRef<double> expected, ArrayRef<double> got, ArrayRef<double> differences) {
  double unusual[lanes] = {}, largest[lanes] = {}, farthest[lanes] = {};
  forEachLane(expected.size(), [&](size_t lane, size_t i) {
    double magnitude = std::fabs(expected[i]);
    unusual[lane] += !(magnitude <= usualLimit) + !(std::fabs(got[i]) <= usualLimit);
    takeLarger(largest[lane], magnitude);
    takeLarger(farthest[lane], differences[i]);
  });
  if (sumOf(unusual) > 0)
    return addUnusual(expected, got);
  difference.add(differences, *std::max_element(farthest, farthest + lanes));
  reference.add(expected, *std::max_element(largest, largest + lanes));
}

// A quarter of each value, where a difference of two could overflow.
void NormDifference::addUnusual(ArrayRef<double> expected, ArrayRef<double> got) {
  llvm::SmallVector<double> expectedParts(expected.size()), parts(expected.size());
  bool isLarge = false;
  for (ArrayRef<double> values : {expected, got})
    for (double value : values)
      isLarge |= std::isfinite(value) && std::fabs(value) > usualLimit;
  int exponent = isLarge ? 2 : 0;
  double factor = std::ldexp(1.0, -exponent);
  for (size_t i = 0; i < expected.size(); ++i) {
    double e = expected[i], g = got[i];
    if (std::isfinite(e) && std::isfinite(g))
      parts[i] = std::fabs(g * factor - e * factor);
    else
      isFar |= !(e == g || (std::isnan(e) && std::isnan(g)));
    expectedParts[i] = std::isfinite(e) ? e * factor : 0;
  }
  difference.add(parts, largestOf(parts), exponent);
  reference.add(expectedParts, largestOf(expectedParts), exponent);
}

double NormDifference::l2() const {
  return isFar ? std::numeric_limits<double>::infinity() : VectorNorm::l2(difference, reference);
}

double NormDifference::max() const {
  return isFar ? std::numeric_limits<double>::infinity() : VectorNorm::max(difference, reference);
}
