// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of max_diff on two tensors. Golden values are those of the definition's own tests.
#include "adjoint/Diff/MaxDiff.h"
#include "ExpectText.h"
#include "TestTensors.h"

#include <cmath>

using namespace mlir::ad::diff;
using unit::arange;
using unit::makeTensor;
using unit::Tensor;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static MaxDiff compare(const Tensor &expected, const Tensor &got) {
  return compareTensors(expected.view(), got.view(), getUsualThresholds());
}

static void add(Tensor &tensor, int64_t index, double value) {
  reinterpret_cast<float *>(tensor.getData())[index] += static_cast<float>(value);
}

static std::vector<int64_t> counts(const MaxDiff &diff) {
  std::vector<int64_t> found;
  for (const ThresholdCount &above : diff.rep)
    found.push_back(above.count);
  return found;
}

TEST(MaxDiff, CountsDifferencesAboveEachThreshold) {
  Tensor expected = arange(ADRT_F32, {3, 4}), got = arange(ADRT_F32, {3, 4});
  const std::pair<int64_t, double> changes[] = {{1, 0.1}, {2, 0.01}, {3, 0.001}, {5, 0.0001},
                                                {6, 1},   {10, 10},  {7, 100},   {9, 1000}};
  for (auto [index, value] : changes)
    add(got, index, value);
  MaxDiff diff = compare(expected, got);
  EXPECT_EQ(counts(diff), (std::vector<int64_t>{8, 8, 6, 5, 5, 3, 2, 1}));
  EXPECT_EQ(*diff.argm, (Shape{2, 1}));
  EXPECT_EQ(diff.abs, 1000);
}

TEST(MaxDiff, HasTheGoldenValues) {
  Tensor expected = arange(ADRT_F32, {3, 4}), got = arange(ADRT_F32, {3, 4});
  add(got, 6, 0.999);
  add(got, 10, 0.0999);
  add(got, 11, 0.00999);
  MaxDiff diff = compare(expected, got);
  EXPECT_EQ(diff.abs, 0.999000072479248);
  EXPECT_EQ(diff.rel, 0.16647226670209098);
  EXPECT_EQ(diff.sum, 1.1088900566101074);
  EXPECT_EQ(diff.n, 12);
  EXPECT_EQ(diff.dnan, 0);
  EXPECT_EQ(*diff.argm, (Shape{1, 2}));
  EXPECT_EQ(counts(diff), (std::vector<int64_t>{3, 3, 3, 2, 1, 0, 0, 0}));
}

TEST(MaxDiff, TakesANaNForTheNumber1e10) {
  double nan = std::nan("");
  MaxDiff diff =
      compare(makeTensor(ADRT_F64, {4}, {1, nan, nan, 4}), makeTensor(ADRT_F64, {4}, {1, nan, 2, nan}));
  EXPECT_EQ(diff.abs, 1e10 - 2);
  EXPECT_EQ(diff.dnan, 2);
  EXPECT_EQ(diff.nanPairs, 1);
  EXPECT_EQ(*diff.argm, (Shape{2}));
  EXPECT_EQ(*diff.ulp, UINT64_MAX);
  EXPECT_FALSE(diff.isZero());
}

TEST(MaxDiff, EqualInfinitiesDoNotDiffer) {
  Tensor infinite = makeTensor(ADRT_F32, {2}, {kInfinity, -kInfinity});
  EXPECT_TRUE(compare(infinite, infinite.clone().get()).isZero());
  MaxDiff opposite = compare(infinite, makeTensor(ADRT_F32, {2}, {-kInfinity, -kInfinity}));
  EXPECT_EQ(opposite.abs, kInfinity);
  EXPECT_EQ(opposite.dnan, 0);
}

TEST(MaxDiff, AnInfinityIsNotTheLargestDouble) {
  MaxDiff diff = compare(makeTensor(ADRT_F64, {1}, {kInfinity}),
                         makeTensor(ADRT_F64, {1}, {std::numeric_limits<double>::max()}));
  EXPECT_EQ(diff.abs, 0);
  EXPECT_EQ(*diff.ulp, 1U);
  EXPECT_FALSE(diff.isZero());
}

TEST(MaxDiff, EmptyTensorsDoNotDiffer) {
  MaxDiff diff = compare(arange(ADRT_F32, {0, 3}), arange(ADRT_F32, {0, 3}));
  EXPECT_TRUE(diff.isZero());
  EXPECT_EQ(diff.n, 0);
  EXPECT_FALSE(diff.argm.has_value());
}

TEST(MaxDiff, AScalarHasAnEmptyPosition) {
  MaxDiff diff = compare(makeTensor(ADRT_F32, {}, {1}), makeTensor(ADRT_F32, {}, {1.5}));
  EXPECT_EQ(diff.abs, 0.5);
  EXPECT_TRUE(diff.argm->empty());
}

TEST(MaxDiff, OtherShapesAreInfinitelyFar) {
  MaxDiff diff = compare(arange(ADRT_F32, {3, 4}), arange(ADRT_F32, {4, 3}));
  for (double field : {diff.abs, diff.rel, diff.sum, diff.n, diff.dnan})
    EXPECT_EQ(field, kInfinity);
  EXPECT_FALSE(diff.isComparable());
}

TEST(MaxDiff, ComparesTypesByTheirValues) {
  MaxDiff diff = compare(makeTensor(ADRT_F32, {2}, {1, 1.00390625}), makeTensor(ADRT_BF16, {2}, {1, 1}));
  EXPECT_EQ(diff.abs, 0.00390625);
  EXPECT_FALSE(diff.ulp.has_value());
}

TEST(MaxDiff, TheFirstOfEqualLargestDifferencesHasThePosition) {
  constexpr int64_t size = 5000; // several blocks
  Tensor expected = arange(ADRT_F32, {size}), got = arange(ADRT_F32, {size});
  add(got, 1500, 2);
  add(got, 1499, 1);
  add(got, 4000, 2);
  EXPECT_EQ(*compare(expected, got).argm, (Shape{1500}));
}

TEST(MaxDiff, CountsUlpsAcrossZeroAndToInfinity) {
  const std::tuple<adrt_type, double, double, uint64_t> cases[] = {
      {ADRT_F32, 1, 1.00000011920928955, 1},
      {ADRT_F32, 0.0, -0.0, 0},
      {ADRT_F32, 1.401298464324817e-45, -1.401298464324817e-45, 2},
      {ADRT_F64, 1, 1.0000000000000004, 2},
      {ADRT_F64, -kInfinity, kInfinity, 0xffe0000000000000},
      {ADRT_F16, 65504, kInfinity, 1},
      {ADRT_BF16, 1, 1.0078125, 1},
      {ADRT_F8E4M3FN, 448, -448, 0xfc},
      {ADRT_F8E5M2, 1, 2, 4},
      {ADRT_I8, -128, 127, 255},
      {ADRT_I32, -2147483648.0, 2147483647, 4294967295},
      {ADRT_I1, 0, 1, 1}};
  for (auto [type, left, right, distance] : cases) {
    MaxDiff diff = compare(makeTensor(type, {1}, {left}), makeTensor(type, {1}, {right}));
    EXPECT_EQ(*diff.ulp, distance) << adrt::typeName(type) << " " << left << " " << right;
  }
}

static Tensor integers(const std::vector<int64_t> &values) {
  Tensor tensor = arange(ADRT_I64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), reinterpret_cast<int64_t *>(tensor.getData()));
  return tensor;
}

TEST(MaxDiff, ComparesLargeIntegersAsIntegers) {
  constexpr int64_t exact = int64_t(1) << 53;
  MaxDiff diff = compare(integers({exact, 4 * exact}), integers({exact + 1, 4 * exact}));
  EXPECT_EQ(diff.abs, 1);
  EXPECT_EQ(diff.sum, 1);
  EXPECT_EQ(*diff.ulp, 1U);
  EXPECT_EQ(*diff.argm, (Shape{0}));
  EXPECT_EQ(diff.expectedIntegerAtMax, exact);
  EXPECT_EQ(diff.gotIntegerAtMax, exact + 1);
  EXPECT_EQ(counts(diff).front(), 1);
  EXPECT_FALSE(diff.isZero());
}

TEST(MaxDiff, HasAllDigitsOfDifferencesOfIntegers) {
  MaxDiff diff = compare(integers({INT64_MIN, 0}), integers({INT64_MAX, 0}));
  EXPECT_EQ(diff.integerAbs, UINT64_MAX);
  EXPECT_EQ(diff.integerSum, UINT64_MAX);
  EXPECT_EQ(*diff.ulp, UINT64_MAX);
  diff = compare(integers({INT64_MIN, 0}), integers({INT64_MAX, 1}));
  EXPECT_FALSE(diff.integerSum.has_value()); // 65 bits
  EXPECT_EQ(diff.sum, 0x1p64);
}

TEST(MaxDiff, TheFirstOfEqualDoublesIsNotAlwaysTheLargestInteger) {
  constexpr int64_t large = int64_t(1) << 60;
  MaxDiff diff = compare(integers({0, 0, 0}), integers({large, large + 1, large}));
  EXPECT_EQ(diff.integerAbs, static_cast<uint64_t>(large) + 1);
  EXPECT_EQ(*diff.argm, (Shape{1}));
}

TEST(MaxDiff, ComparesLargeIntegersWithFloats) {
  constexpr int64_t exact = int64_t(1) << 53;
  MaxDiff diff = compare(integers({exact + 1, 1}), makeTensor(ADRT_F64, {2}, {0x1p53, 1}));
  EXPECT_EQ(diff.abs, 1);
  EXPECT_FALSE(diff.isZero());
  EXPECT_TRUE(compare(integers({exact, 1}), makeTensor(ADRT_F32, {2}, {0x1p53, 1})).isZero());
  diff = compare(integers({3}), makeTensor(ADRT_F64, {1}, {0.1}));
  EXPECT_EQ(diff.abs, 3 - 0.1);
  diff = compare(integers({1}), makeTensor(ADRT_F64, {1}, {std::nan("")}));
  EXPECT_EQ(diff.abs, 1e10 - 1);
  EXPECT_EQ(diff.dnan, 1);
}
