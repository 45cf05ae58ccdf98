// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments on which functions are tested.
#include "Samples.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/Random.h"
#include <cmath>
#include <limits>

namespace mlir::ad::numerics::test {

uint64_t Stream::next() {
  auto block = philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 7, 7},
                          {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  ++index;
  return uint64_t(block[0]) << 32 | block[1];
}

double Stream::uniform(double low, double high) {
  uint64_t bits = next();
  return low + (high - low) * uniformFromBits(static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits));
}

static double rounded(ElementType type, double x) { return toDouble(type, fromDouble(type, x)); }

static void addAround(ElementType type, double x, std::vector<double> &values) {
  uint64_t bits = fromDouble(type, x);
  for (uint64_t near : {bits - 1, bits, bits + 1})
    for (double sign : {1.0, -1.0})
      values.push_back(sign * toDouble(type, near));
}

std::vector<double> specialValues(ElementType type) {
  bool wide = type == ElementType::F64;
  double infinity = std::numeric_limits<double>::infinity();
  double smallest = wide ? 0x1p-1074 : 0x1p-149, normal = wide ? 0x1p-1022 : 0x1p-126;
  double largest = wide ? std::numeric_limits<double>::max() : double(std::numeric_limits<float>::max());
  std::vector<double> values = {0.0,      -0.0,      infinity, -infinity, std::nan(""),
                                smallest, -smallest, largest,  -largest};
  double thresholds[] = {normal,
                         0.25,
                         0.3465735902799726,
                         0.4142135623730950,
                         0.5,
                         0.6931471805599453,
                         0.70710678,
                         0.7853981,
                         1.0,
                         1.41421356237,
                         1.5,
                         1.5707963267948966,
                         2.0,
                         3.0,
                         3.14159265358979,
                         4.0,
                         4.5,
                         5.0,
                         6.5,
                         10.0,
                         14.5,
                         22.0,
                         22.5,
                         30.0,
                         38.5,
                         39.0,
                         45.0,
                         87.3365,
                         88.72284,
                         90.0,
                         103.97208,
                         104.0,
                         112.0,
                         127.0,
                         128.0,
                         149.0,
                         150.0,
                         709.7827,
                         711.0,
                         745.13321,
                         760.0,
                         1000.0,
                         1022.0,
                         1024.0,
                         1074.0,
                         1075.0,
                         0x1p23,
                         0x1p24,
                         0x1p52,
                         0x1p53,
                         0x1p-24,
                         0x1p-25,
                         0x1p-53,
                         0x1p-54,
                         0x1p-13,
                         0x1p-28,
                         1e-30,
                         1e9,
                         1e22,
                         16367173.0 * 0x1p72};
  for (double x : thresholds)
    addAround(type, x, values);
  // The double that is closest to a multiple of pi/2 (Muller and others, "Handbook of Floating-Point
  // Arithmetic").
  if (wide)
    addAround(type, 6381956970095103.0 * std::ldexp(1.0, 797), values);
  return values;
}

/// A value of exponent field `exponent`: first the ends of the binade, then random ones.
static double inBinade(ElementType type, uint64_t exponent, int number, Stream &stream) {
  int mantissa = type == ElementType::F64 ? 52 : 23;
  uint64_t mask = (uint64_t(1) << mantissa) - 1, fraction = stream.next() & mask;
  fraction = number == 0 ? 0 : number == 1 ? mask : fraction;
  return toDouble(type, exponent << mantissa | fraction);
}

static uint64_t exponents(ElementType type) { return type == ElementType::F64 ? 2047 : 255; }

std::vector<double> stratifiedValues(ElementType type, int perBinade, Stream &stream) {
  std::vector<double> values = specialValues(type);
  for (uint64_t exponent = 0; exponent < exponents(type); ++exponent)
    for (int i = 0; i < perBinade; ++i) {
      double x = inBinade(type, exponent, i, stream);
      values.push_back(x);
      values.push_back(-x);
    }
  double ends[] = {0.75, 1.5, 6.0, 40.0, 120.0, 800.0};
  for (double end : ends)
    for (int i = 0; i < 100 * perBinade; ++i)
      values.push_back(rounded(type, stream.uniform(-end, end)));
  return values;
}

/// x and y such that x^y is between the smallest and the largest number.
static std::pair<double, double> powPair(ElementType type, Stream &stream) {
  double range = type == ElementType::F64 ? 1080 : 152;
  double x = stream.next() % 2 ? stream.uniform(0.5, 2.0)
                               : inBinade(type, stream.next() % exponents(type), 2, stream);
  x = rounded(type, x);
  double y = rounded(type, stream.uniform(-range, range) / std::log2(x));
  if (stream.next() % 4 == 0)
    return {-x, std::nearbyint(y)};
  return {x, y};
}

std::vector<std::pair<double, double>> stratifiedPairs(Elementary function, ElementType type, int count,
                                                       Stream &stream) {
  std::vector<std::pair<double, double>> pairs;
  std::vector<double> specials = specialValues(type);
  for (size_t i = 0; i < specials.size(); i += 2)
    for (size_t j = 0; j < specials.size(); j += 3)
      pairs.emplace_back(specials[i], specials[j]);
  for (size_t i = 0; i < 9; ++i)
    for (size_t j = 0; j < 9; ++j)
      pairs.emplace_back(specials[i], specials[j]);
  for (int i = 0; i < count; ++i) {
    double signs[] = {1.0, -1.0};
    double x = inBinade(type, stream.next() % exponents(type), 2, stream) * signs[stream.next() % 2];
    double y = inBinade(type, stream.next() % exponents(type), 2, stream) * signs[stream.next() % 2];
    if (i % 4 == 0)
      pairs.emplace_back(x, y);
    else if (function == Elementary::Pow)
      pairs.push_back(powPair(type, stream));
    else if (i % 4 == 1)
      pairs.emplace_back(rounded(type, stream.uniform(-3, 3)), rounded(type, stream.uniform(-3, 3)));
    else
      pairs.emplace_back(rounded(type, x), rounded(type, x * stream.uniform(-4, 4)));
  }
  return pairs;
}

std::vector<double> everyValue(ElementType type) {
  std::vector<double> values;
  for (uint64_t bits = 0; bits < uint64_t(1) << (8 * sizeInBytes(type)); ++bits)
    values.push_back(toDouble(type, bits));
  return values;
}

} // namespace mlir::ad::numerics::test
