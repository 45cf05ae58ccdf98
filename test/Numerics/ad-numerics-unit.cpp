// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Casts against the definition of each format, Philox against published answers, the orders of summation
// against expressions written by hand, the shorter forms of functions against the exact ones.
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/Elementary.h"
#include "adjoint/Numerics/Order.h"
#include "adjoint/Numerics/Random.h"
#include "adjoint/Numerics/StochasticCast.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace mlir::ad::numerics;

namespace {

/// At most 40 failures of a case are described.
void check(bool holds, const std::string &what) {
  static const testing::TestInfo *last = nullptr;
  static int described = 0;
  const testing::TestInfo *current = testing::UnitTest::GetInstance()->current_test_info();
  if (current != last)
    described = 0;
  last = current;
  if (!holds && ++described <= 40)
    ADD_FAILURE() << what;
}

std::string hex(double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// A narrow float as its definition says.
struct Format {
  ElementType type;
  int exponentBits, mantissaBits, bias;
  uint64_t largest; // code of the largest finite value

  double value(uint64_t code) const {
    uint64_t exponent = code >> mantissaBits, fraction = code & ((1u << mantissaBits) - 1);
    if (exponent == 0)
      return std::ldexp(double(fraction), 1 - bias - mantissaBits);
    return std::ldexp(double(fraction + (1u << mantissaBits)), int(exponent) - bias - mantissaBits);
  }
  uint64_t signBit() const { return uint64_t(1) << (exponentBits + mantissaBits); }
  std::string name() const { return std::string(elementTypeName(type)); }
};

constexpr Format formats[] = {{ElementType::F16, 5, 10, 15, 0x7bff},
                              {ElementType::BF16, 8, 7, 127, 0x7f7f},
                              {ElementType::F8E4M3FN, 4, 3, 7, 0x7e},
                              {ElementType::F8E5M2, 5, 2, 15, 0x7b}};

class Formats : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Narrow, Formats, testing::ValuesIn(formats),
                         [](const auto &info) { return info.param.name(); });

bool saturates(ElementType type) { return sizeInBytes(type) == 1; }

TEST_P(Formats, WidenAsDefined) {
  const Format &format = GetParam();
  for (uint64_t code = 0; code <= format.largest; ++code) {
    check(same(toDouble(format.type, code), format.value(code)), format.name() + " value of a code");
    check(same(toFloat(format.type, code | format.signBit()), -format.value(code)),
          format.name() + " negative code");
  }
  for (uint64_t code = format.largest + 1; code < format.signBit(); ++code) {
    bool infinite = code == format.largest + 1 && format.type != ElementType::F8E4M3FN;
    double value = toDouble(format.type, code);
    check(infinite ? value == std::numeric_limits<double>::infinity() : std::isnan(value),
          format.name() + " infinity and NaN");
  }
}

/// x and -x, as f64 and, when it is one, as f32.
void checkNarrowing(const Format &format, double x, uint64_t expected) {
  check(fromDouble(format.type, x) == expected, format.name() + " of f64 " + hex(x));
  check(fromDouble(format.type, -x) == (expected | format.signBit()), format.name() + " of f64 -" + hex(x));
  auto single = static_cast<float>(x);
  if (static_cast<double>(single) == x)
    check(fromFloat(format.type, single) == expected, format.name() + " of f32 " + hex(x));
}

/// Every code, every midpoint, and the adjacent values in f32 and f64.
TEST_P(Formats, RoundToTheNearestCode) {
  const Format &format = GetParam();
  double infinity = std::numeric_limits<double>::infinity();
  float single = std::numeric_limits<float>::infinity();
  uint64_t overflow = saturates(format.type) ? format.largest : format.largest + 1;
  for (uint64_t code = 0; code <= format.largest; ++code) {
    bool last = code == format.largest;
    double low = format.value(code);
    double high = last ? low + (low - format.value(code - 1)) : format.value(code + 1);
    uint64_t above = last ? overflow : code + 1;
    double middle = low + (high - low) / 2;
    checkNarrowing(format, low, code);
    checkNarrowing(format, middle, code % 2 ? above : code);
    checkNarrowing(format, std::nextafter(middle, 0), code);
    checkNarrowing(format, std::nextafter(middle, infinity), above);
    if (static_cast<double>(static_cast<float>(middle)) == middle) {
      checkNarrowing(format, std::nextafter(static_cast<float>(middle), 0.0f), code);
      checkNarrowing(format, std::nextafter(static_cast<float>(middle), single), above);
    }
    checkNarrowing(format, std::nextafter(low, infinity), code);
  }
  checkNarrowing(format, infinity, overflow);
  checkNarrowing(format, std::numeric_limits<double>::max(), overflow);
  checkNarrowing(format, double(std::numeric_limits<float>::max()), overflow);
  checkNarrowing(format, 0x1p-1074, 0);
  checkNarrowing(format, 0x1p-149, 0);
  check(std::isnan(toDouble(format.type, fromDouble(format.type, std::nan("")))),
        format.name() + " of f64 NaN");
  check(std::isnan(toFloat(format.type, fromFloat(format.type, std::nanf("")))),
        format.name() + " of f32 NaN");
}

/// Integers around the midpoints, where going through f64 or f32 first would round twice.
TEST_P(Formats, TakeIntegersInOneRounding) {
  const Format &format = GetParam();
  for (uint64_t code = 1; code < format.largest; ++code) {
    double low = format.value(code), high = format.value(code + 1), middle = low + (high - low) / 2;
    if (middle != std::floor(middle) || middle > 0x1p62)
      continue;
    auto integer = static_cast<int64_t>(middle);
    int64_t near[] = {integer - 1, integer, integer + 1};
    uint64_t expected[] = {code, code + code % 2, code + 1};
    for (int i = 0; i < 3; ++i) {
      if (double(near[i]) < low || near[i] > static_cast<int64_t>(high))
        continue;
      check(fromInteger(format.type, near[i]) == expected[i],
            format.name() + " of i64 " + std::to_string(near[i]));
      check(fromInteger(format.type, -near[i]) == (expected[i] | format.signBit()),
            format.name() + " of negative i64");
      if (near[i] <= std::numeric_limits<int32_t>::max())
        check(castScalar(ElementType::I32, format.type, uint64_t(near[i])) == expected[i],
              format.name() + " of i32");
    }
  }
  uint64_t overflow = saturates(format.type) ? format.largest : format.largest + 1;
  if (format.type != ElementType::BF16)
    check(fromInteger(format.type, std::numeric_limits<int64_t>::max()) == overflow,
          format.name() + " of i64 max");
}

TEST(Casts, ToIntegersTruncateAndSaturate) {
  struct Case {
    double value;
    int64_t i8, i32, i64;
  };
  constexpr int64_t min32 = std::numeric_limits<int32_t>::min(), max32 = std::numeric_limits<int32_t>::max();
  constexpr int64_t min64 = std::numeric_limits<int64_t>::min(), max64 = std::numeric_limits<int64_t>::max();
  double infinity = std::numeric_limits<double>::infinity();
  Case cases[] = {{0.0, 0, 0, 0},
                  {-0.0, 0, 0, 0},
                  {0.99, 0, 0, 0},
                  {-0.99, 0, 0, 0},
                  {127.5, 127, 127, 127},
                  {128.0, 127, 128, 128},
                  {-128.5, -128, -128, -128},
                  {-129.0, -128, -129, -129},
                  {2147483647.5, 127, max32, 2147483647},
                  {2147483648.0, 127, max32, 2147483648},
                  {-2147483648.5, -128, min32, min32},
                  {-2147483649.0, -128, min32, -2147483649},
                  {9223372036854774784.0, 127, max32, 9223372036854774784},
                  {9223372036854775808.0, 127, max32, max64},
                  {-9223372036854775808.0, -128, min32, min64},
                  {1e300, 127, max32, max64},
                  {-1e300, -128, min32, min64},
                  {infinity, 127, max32, max64},
                  {-infinity, -128, min32, min64},
                  {std::nan(""), 0, 0, 0}};
  for (const Case &c : cases) {
    check(toInteger(ElementType::I8, fromDouble(ElementType::I8, c.value)) == c.i8, "i8 of " + hex(c.value));
    check(toInteger(ElementType::I32, fromDouble(ElementType::I32, c.value)) == c.i32,
          "i32 of " + hex(c.value));
    check(toInteger(ElementType::I64, fromDouble(ElementType::I64, c.value)) == c.i64,
          "i64 of " + hex(c.value));
    check(fromDouble(ElementType::I1, c.value) == (c.value != 0), "i1 of " + hex(c.value));
    auto single = static_cast<float>(c.value);
    if (same(single, c.value)) {
      check(toInteger(ElementType::I8, fromFloat(ElementType::I8, single)) == c.i8,
            "i8 of f32 " + hex(c.value));
      check(toInteger(ElementType::I32, fromFloat(ElementType::I32, single)) == c.i32,
            "i32 of f32 " + hex(c.value));
      check(toInteger(ElementType::I64, fromFloat(ElementType::I64, single)) == c.i64,
            "i64 of f32 " + hex(c.value));
    }
  }
}

TEST(Casts, IntegersWrapAndExtendTheirSign) {
  EXPECT_EQ(castScalar(ElementType::I64, ElementType::I8, 0x1ff), 0xffu);
  EXPECT_EQ(castScalar(ElementType::I8, ElementType::I64, 0x80), 0xffffffffffffff80u);
}

TEST(Casts, BooleansAreNonzeroAndOne) {
  EXPECT_EQ(castScalar(ElementType::I8, ElementType::I1, 0x80), 1u);
  EXPECT_EQ(castScalar(ElementType::I1, ElementType::I32, 1), 1u);
}

TEST(Casts, SubnormalsOfF32AreKeptInF64) {
  EXPECT_EQ(castScalar(ElementType::F32, ElementType::F64, fromFloat(ElementType::F32, 0x1p-149f)),
            fromDouble(ElementType::F64, 0x1p-149));
}

/// The exact probability of each lower half: 65536 minus the half is the first upper half of a word that
/// rounds up.
TEST(StochasticCasts, AHalfRoundsUpForItsShareOfAllWords) {
  for (uint32_t half = 0; half < 65536; ++half) {
    float x = toFloat(ElementType::F32, 0xC0490000u | half);
    EXPECT_EQ(castStochastically(ElementType::BF16, x, ((65535 - half) << 16) | 0xffff), 0xC049u) << half;
    if (half > 0) {
      EXPECT_EQ(castStochastically(ElementType::BF16, x, (65536 - half) << 16), 0xC04Au) << half;
    }
  }
}

TEST(StochasticCasts, SubnormalResultsRoundByTheirDistanceToThirtyTwoBits) {
  float quarter = 0x1p-26f; // of the smallest subnormal f16
  EXPECT_EQ(castStochastically(ElementType::F16, quarter, 0xbfffffff), 0u);
  EXPECT_EQ(castStochastically(ElementType::F16, quarter, 0xc0000000), 1u);
  EXPECT_EQ(castStochastically(ElementType::F16, -3 * quarter, 0x40000000), 0x8001u);
  EXPECT_EQ(castStochastically(ElementType::F16, 0x1p-56f, 0xffffffff), 1u);
  EXPECT_EQ(castStochastically(ElementType::F16, 0x1p-57f, 0xffffffff), 0u);
  EXPECT_EQ(castStochastically(ElementType::F8E4M3FN, 0x1p-149f, 0xffffffff), 0u);
  EXPECT_EQ(castStochastically(ElementType::F16, 0x1.ffffp-15f, 0xffffffff),
            0x400u); // to the smallest normal number
}

TEST(StochasticCasts, OverflowsAreThoseOfCasts) {
  EXPECT_EQ(castStochastically(ElementType::F16, 65519, 0), 0x7bffu);
  EXPECT_EQ(castStochastically(ElementType::F16, 65519, 0xffffffff), 0x7c00u);
  EXPECT_EQ(castStochastically(ElementType::F8E4M3FN, -449, 0xffffffff), 0xfeu);
  EXPECT_EQ(castStochastically(ElementType::BF16, std::numeric_limits<float>::infinity(), 0xffffffff),
            0x7f80u);
}

using Words = std::array<uint32_t, 4>;
constexpr uint32_t ones = 0xffffffff;

TEST(Random, PhiloxHasThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // The digits of pi.
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, UniformNumbersEndBelowOne) {
  EXPECT_EQ(uniformFromBits(0), 0);
  EXPECT_EQ(uniformFromBits(ones), 1 - 0x1p-24f);
  EXPECT_EQ(uniformFromBits(ones, ones), 1 - 0x1p-53);
}

/// Moments of 200,000 numbers: a swapped word or a wrong formula shows at once.
TEST(Random, NumbersHaveTheMomentsOfTheirDistribution) {
  constexpr int count = 200000;
  double uniform = 0, first = 0, second = 0, fourth = 0, lag = 0, previous = 0;
  for (int i = 0; i < count; ++i) {
    uniform += uniformAt(5, i);
    double x = normalDoubleAt(5, i);
    first += x;
    second += x * x;
    fourth += x * x * x * x;
    lag += x * previous;
    previous = x;
  }
  EXPECT_NEAR(uniform / count, 0.5, 0.004);
  EXPECT_NEAR(first / count, 0, 0.012);
  EXPECT_NEAR(second / count, 1, 0.016);
  EXPECT_NEAR(fourth / count, 3, 0.12);
  EXPECT_NEAR(lag / count, 0, 0.012); // consecutive normal numbers are independent
}

TEST(Random, NormalF32IsTheRoundedF64) {
  EXPECT_EQ(normalAt(5, 17), static_cast<float>(normalDoubleAt(5, 17)));
}

/// Filling a part of a stream gives the bits of its single elements, wherever the part begins and ends.
TEST(Random, PartsAreThoseOfTheStream) {
  uint64_t wrong = 0;
  for (uint64_t seed : {uint64_t(0), uint64_t(7), uint64_t(0x123456789abcdef0), ~uint64_t(0)})
    for (uint64_t first : {uint64_t(0), uint64_t(3), (uint64_t(1) << 32) - 5, ~uint64_t(0) - 2000})
      for (size_t count : {size_t(1), size_t(7), size_t(1990)}) {
        std::vector<double> uniform(count), normal(count);
        fillUniform(seed, first, uniform.data(), count);
        fillNormal(seed, first, normal.data(), count);
        for (size_t i = 0; i < count; ++i) {
          double expected[] = {uniformDoubleAt(seed, first + i), normalDoubleAt(seed, first + i)};
          wrong += std::memcmp(&expected[0], &uniform[i], sizeof(double)) != 0;
          wrong += std::memcmp(&expected[1], &normal[i], sizeof(double)) != 0;
        }
      }
  EXPECT_EQ(wrong, 0u);
}

/// Sums as expressions: '.' is the identity, a digit one step, parentheses a join.
std::string step(const std::string &sum, int64_t i) { return sum + char('a' + i); }
std::string join(const std::string &left, const std::string &right) { return "(" + left + right + ")"; }
std::string lanesOf(int64_t count) {
  return laneTree<std::string>(count, ".", step, join, /*lanes=*/4, /*chunk=*/8);
}
std::string blocksOf(int64_t count) { return blockChain<std::string>(count, ".", step, join, /*block=*/3); }

TEST(Orders, LanesAreStridedAndJoinedAsATree) {
  EXPECT_EQ(lanesOf(0), ".");
  EXPECT_EQ(lanesOf(1), ".a");
  EXPECT_EQ(lanesOf(3), "((.a.c).b)"); // absent lanes are skipped
  EXPECT_EQ(lanesOf(6), "((.ae.c)(.bf.d))");
}

TEST(Orders, ChunksOfLanesAreJoinedAndTheOddOneMovesUp) {
  EXPECT_EQ(lanesOf(11), "(((.ae.cg)(.bf.dh))((.i.k).j))");
  EXPECT_EQ(lanesOf(17), "((((.ae.cg)(.bf.dh))((.im.ko)(.jn.lp))).q)");
}

TEST(Orders, BlocksAreJoinedInPairsAndTheOddOneMovesUp) {
  EXPECT_EQ(blocksOf(0), ".");
  EXPECT_EQ(blocksOf(3), ".abc");
  EXPECT_EQ(blocksOf(8), "((.abc.def).gh)");
  EXPECT_EQ(blocksOf(15), "(((.abc.def)(.ghi.jkl)).mno)");
}

TEST(Orders, TheDefaultOneSumsAll) {
  double sum = laneTree(
      10000, 0.0, [](double s, int64_t i) { return s + double(i); },
      [](double a, double b) { return a + b; });
  EXPECT_EQ(sum, 49995000.0);
}

TEST(Names, LeadBackToFunctionsAndTypes) {
  for (int i = 0; i < elementaryCount; ++i) {
    auto function = static_cast<Elementary>(i);
    EXPECT_EQ(elementaryFromName(elementaryName(function)), function) << elementaryName(function);
  }
  for (int i = 0; i < elementTypeCount; ++i) {
    auto type = static_cast<ElementType>(i);
    EXPECT_EQ(elementTypeFromName(elementTypeName(type)), type) << elementTypeName(type);
  }
}

TEST(Names, UnknownOnesAreNothing) {
  EXPECT_FALSE(elementaryFromName("cosh"));
  EXPECT_FALSE(elementTypeFromName("f128"));
}

/// The shorter form of a function, and what its error is measured by: the result, 1 or the argument.
struct Approximation {
  Elementary function;
  enum Scale { Result, One, Argument } scale;
  double bound;

  double error(float x) const {
    double exact = evaluate(function, double(x)), unit = scale == Result ? exact : scale == One ? 1.0 : x;
    return std::fabs(evaluateApproximate(function, x) - exact) / std::fabs(unit);
  }
};

constexpr Approximation approximations[] = {{Elementary::Tanh, Approximation::Result, 0x1p-17},
                                            {Elementary::Erf, Approximation::Result, 0x1p-17},
                                            {Elementary::Sigmoid, Approximation::One, 0x1p-18},
                                            {Elementary::Gelu, Approximation::Argument, 0x1p-17},
                                            {Elementary::GeluTanh, Approximation::Argument, 0x1p-17},
                                            {Elementary::Silu, Approximation::Argument, 0x1p-17}};

class Approximations : public testing::TestWithParam<Approximation> {
protected:
  const Approximation &form = GetParam();

  double of(float x) const { return double(evaluateApproximate(form.function, x)); }
};
INSTANTIATE_TEST_SUITE_P(Elementary, Approximations, testing::ValuesIn(approximations),
                         [](const auto &info) { return std::string(elementaryName(info.param.function)); });

/// 1000 arguments of each binade and sign, every 1/8192 up to 16, and the special ones. The oracle is the
/// exact function in f64, which ad-math-scan holds against MPFR.
TEST_P(Approximations, KeepTheirBoundAndNeedIt) {
  double worst = 0;
  auto look = [&](double x) {
    if (float(x) != 0)
      worst = std::fmax(worst, std::fmax(form.error(float(x)), form.error(-float(x))));
  };
  for (int exponent = -126; exponent < 128; ++exponent)
    for (int i = 0; i < 1000; ++i)
      look(std::ldexp(1 + i / 1000.0, exponent));
  for (int i = 1; i < 16 * 8192; ++i)
    look(i / 8192.0);
  EXPECT_LE(worst, form.bound);
  EXPECT_GT(worst, form.bound / 64);
}

TEST_P(Approximations, HaveLimitsAndZeros) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(of(std::nanf(""))));
  EXPECT_TRUE(std::isfinite(of(-infinity)));
  EXPECT_NEAR(of(-infinity), evaluate(form.function, -1e30), 0x1p-16);
  if (form.scale == Approximation::Argument)
    EXPECT_EQ(of(infinity), infinity);
  else
    EXPECT_NEAR(of(infinity), 1, 0x1p-17);
  if (form.function != Elementary::Sigmoid) {
    EXPECT_TRUE(same(of(0.0f), 0.0));
    EXPECT_TRUE(same(of(-0.0f), -0.0));
  }
}

} // namespace
