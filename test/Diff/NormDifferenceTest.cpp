// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of norm-wise differences against closed forms. measures_test.py compares them with NumPy.
#include "TestTensors.h"
#include "adjoint/Diff/Value.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::ad::diff;
using unit::makeTensor;
using unit::Tensor;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static MaxDiff compare(adrt_type type, const std::vector<double> &expected, const std::vector<double> &got) {
  auto size = static_cast<int64_t>(expected.size());
  return compareTensors(makeTensor(type, {size}, expected).view(), makeTensor(type, {size}, got).view());
}

static void expectNorms(const MaxDiff &diff, double l2, double max) {
  EXPECT_DOUBLE_EQ(diff.l2, l2);
  EXPECT_DOUBLE_EQ(diff.max, max);
}

TEST(NormDifference, IsRelativeToTheNormOfTheTensor) {
  expectNorms(compare(ADRT_F64, {3, 4, 0}, {3, 4, 1}), 0.2, 0.25);
  expectNorms(compare(ADRT_F64, {0, 1}, {1, 0}), std::sqrt(2.0), 1);
  expectNorms(compare(ADRT_F64, {3, 4}, {3, 4}), 0, 0);
}

TEST(NormDifference, OfZerosIsOneWhateverTheMagnitude) {
  for (double size : {1e-300, 1e-20, 1e-7, 1.0, 1e20, 1e300}) {
    MaxDiff zeros = compare(ADRT_F64, {3 * size, 4 * size}, {0, 0});
    expectNorms(zeros, 1, 1);
    EXPECT_EQ(zeros.isRelBlind(), size < 1e-4);
    expectNorms(compare(ADRT_F64, {3 * size, 4 * size}, {3 * size, 2 * size}), 0.4, 0.5);
  }
}

TEST(NormDifference, IsAbsoluteIfTheReferenceIsZero) {
  expectNorms(compare(ADRT_F64, {0, -0.0}, {3, 4}), 5, 4);
  expectNorms(compare(ADRT_F64, {0, 0}, {3e200, 4e200}), 5e200, 4e200);
  expectNorms(compare(ADRT_F64, {0, 0}, {0, -0.0}), 0, 0);
  EXPECT_FALSE(compare(ADRT_F64, {0, 0}, {1e-5, 0}).isRelBlind());
}

TEST(NormDifference, DoesNotOverflow) {
  double largest = std::numeric_limits<double>::max(), smallest = 4.9406564584124654e-324;
  expectNorms(compare(ADRT_F64, {largest, largest}, {-largest, -largest}), 2, 2);
  expectNorms(compare(ADRT_F64, {largest, 0}, {largest, 1}), 1 / largest, 1 / largest);
  expectNorms(compare(ADRT_F64, {smallest, smallest}, {0, smallest}), std::sqrt(0.5), 1);
  expectNorms(compare(ADRT_F64, {1, smallest}, {1, 0}), smallest, smallest);
}

TEST(NormDifference, LeavesOutWhatIsEqualAndNotFinite) {
  double nan = std::nan("");
  expectNorms(compare(ADRT_F64, {nan, kInfinity, -kInfinity, 3, 4}, {nan, kInfinity, -kInfinity, 3, 5}), 0.2,
              0.25);
  expectNorms(compare(ADRT_F32, {nan, nan}, {nan, nan}), 0, 0);
  for (double other : {1.0, kInfinity, -kInfinity})
    expectNorms(compare(ADRT_F64, {nan, 1}, {other, 1}), kInfinity, kInfinity);
  expectNorms(compare(ADRT_F64, {kInfinity, 1}, {-kInfinity, 1}), kInfinity, kInfinity);
  expectNorms(compare(ADRT_F64, {kInfinity}, {std::numeric_limits<double>::max()}), kInfinity, kInfinity);
  expectNorms(compare(ADRT_F32, {1, 1}, {1, -kInfinity}), kInfinity, kInfinity);
}

TEST(NormDifference, ComparesIntegersAndBooleansByTheirValues) {
  expectNorms(compare(ADRT_I1, {1, 1, 1, 1, 0}, {1, 1, 0, 1, 0}), 0.5, 1);
  expectNorms(compare(ADRT_I32, {-2147483648.0, 0}, {2147483647.0, 0}), 4294967295.0 / 2147483648.0,
              4294967295.0 / 2147483648.0);
  expectNorms(compare(ADRT_I8, {0, 0}, {3, 4}), 5, 4);
}

TEST(NormDifference, ComparesTypesByTheirValues) {
  Tensor wide = makeTensor(ADRT_F32, {2}, {3, 4.00390625}),
         narrow = makeTensor(ADRT_BF16, {2}, {3, 4.00390625});
  MaxDiff diff = compareTensors(wide.view(), narrow.view());
  EXPECT_DOUBLE_EQ(diff.max, 0.00390625 / 4.00390625);
  EXPECT_DOUBLE_EQ(diff.l2, 0.00390625 / std::hypot(3, 4.00390625));
}

TEST(NormDifference, EmptyTensorsDoNotDiffer) { expectNorms(compare(ADRT_F32, {}, {}), 0, 0); }

TEST(NormDifference, OtherShapesAreInfinitelyFar) { expectNorms(makeIncomparable(), kInfinity, kInfinity); }

// Several blocks of different magnitudes, in ascending and in descending order.
TEST(NormDifference, JoinsPartsOfEveryMagnitude) {
  constexpr size_t size = 1 << 13;
  std::vector<double> expected(size), got(size);
  for (size_t i = 0; i < size; ++i) {
    expected[i] = std::ldexp(1.0, static_cast<int>(i / 8) - 512);
    got[i] = expected[i] * 1.5;
  }
  expectNorms(compare(ADRT_F64, expected, got), 0.5, 0.5);
  std::reverse(expected.begin(), expected.end());
  std::reverse(got.begin(), got.end());
  expectNorms(compare(ADRT_F64, expected, got), 0.5, 0.5);
}

// One norm over both would be 1e-3.
TEST(NormDifference, OfSeveralTensorsIsThatOfTheWorst) {
  Tensor large = makeTensor(ADRT_F32, {2}, {1000, 1000}), small = makeTensor(ADRT_F32, {2}, {1, 1});
  Tensor zeros = makeTensor(ADRT_F32, {2}, {0, 0});
  Value expected = Value::list({Value::fromTensor(large.view()), Value::fromTensor(small.view())});
  Value got = Value::list({Value::fromTensor(large.view()), Value::fromTensor(zeros.view())});
  expectNorms(compareValues(expected, got), 1, 1);
  expectNorms(compareValues(Value::fromFloat(0), Value::fromFloat(0.25)), 0.25, 0.25);
  expectNorms(compareValues(Value::fromFloat(-4), Value::fromInt(-2)), 0.5, 0.5);
  expectNorms(compareValues(Value::fromFloat(std::nan("")), Value::fromFloat(1)), kInfinity, kInfinity);
}
