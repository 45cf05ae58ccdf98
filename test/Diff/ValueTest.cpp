// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of max_diff on containers and scalars.
#include "adjoint/Diff/Value.h"
#include "ExpectText.h"
#include "TestTensors.h"
#include "adjoint/Diff/StringForms.h"

#include <cmath>

using namespace mlir::ad::diff;
using unit::makeTensor;
using unit::Tensor;

namespace {

class Values : public testing::Test {
protected:
  Tensor zeros = makeTensor(ADRT_F32, {2, 2}, {0, 0, 0, 0});
  Tensor changed = makeTensor(ADRT_F32, {2, 2}, {0, 0.5, 0, 2});
  Value expected = Value::fromTensor(zeros.view()), got = Value::fromTensor(changed.view());
};

} // namespace

TEST_F(Values, ContainersTakeTheLargestAndSumTheRest) {
  Value left = Value::list({expected, expected, expected}), right = Value::tuple({got, expected, got});
  MaxDiffOptions options;
  options.thresholds = getUsualThresholds();
  MaxDiff diff = compareValues(left, right, options);
  EXPECT_EQ(diff.abs, 2);
  EXPECT_EQ(diff.rel, 2000);
  EXPECT_EQ(diff.sum, 5);
  EXPECT_EQ(diff.n, 12);
  EXPECT_EQ(diff.rep.front().count, 4);
  EXPECT_FALSE(diff.argm.has_value());
}

TEST_F(Values, NestedThreeTimesCountsThreeTimes) {
  MaxDiffOptions options;
  options.thresholds = getUsualThresholds();
  Value left =
      Value::list({Value::tuple({expected, Value::dict({{"a", expected}, {"b", Value::list({expected})}})})});
  Value right = Value::list({Value::tuple({got, Value::dict({{"b", Value::list({got})}, {"a", got}})})});
  EXPECT_EQ(compareValues(left, right, options).rep.front().count, 6);
}

TEST(GoldenValues, NestedThreeTimesCountThreeTimes) {
  Tensor arange = unit::arange(ADRT_F32, {3, 4}), changed = unit::arange(ADRT_F32, {3, 4});
  auto *values = reinterpret_cast<float *>(changed.getData());
  const std::pair<int64_t, float> changes[] = {{1, 0.1F}, {2, 0.01F}, {3, 0.001F}, {5, 0.0001F},
                                               {6, 1},    {10, 10},   {7, 100},    {9, 1000}};
  for (auto [index, value] : changes)
    values[index] += value;
  auto nest = [](const Tensor &tensor) {
    Value leaf = Value::fromTensor(tensor.view());
    return Value::list({leaf, Value::tuple({leaf, Value::list({leaf})})});
  };
  MaxDiffOptions options;
  options.thresholds = getUsualThresholds();
  std::string text = stringDiff(compareValues(nest(arange), nest(changed), options));
  EXPECT_EQ(text.substr(text.find('/')),
            "/#24>0.0-#24>0.0001-#18>0.001-#15>0.01-#15>0.1-#9>1.0-#6>10.0-#3>100.0");
  const double thresholds[] = {0.5, 500};
  options.thresholds = thresholds;
  MaxDiff diff = compareValues(nest(arange), nest(changed), options);
  EXPECT_EQ(diff.rep.size(), 2U);
  EXPECT_EQ(diff.rep[0].count, 12);
  EXPECT_EQ(diff.rep[1].count, 3);
}

TEST_F(Values, OneTensorIsAListOfIt) {
  EXPECT_EQ(compareValues(expected, Value::list({got})).abs, 2);
  EXPECT_EQ(compareValues(Value::tuple({expected}), got).abs, 2);
}

TEST_F(Values, OtherLengthsKeysAndKindsAreIncomparable) {
  Value list = Value::list({expected, expected});
  EXPECT_FALSE(compareValues(list, Value::list({expected})).isComparable());
  EXPECT_FALSE(compareValues(Value::dict({{"a", expected}}), Value::dict({{"b", expected}})).isComparable());
  EXPECT_FALSE(compareValues(expected, Value::fromFloat(1)).isComparable());
  EXPECT_FALSE(compareValues(Value(), expected).isComparable());
  EXPECT_FALSE(compareValues(Value::fromText("a"), Value::fromText("b")).isComparable());
}

TEST_F(Values, FlatteningComparesLeaves) {
  MaxDiffOptions options;
  Value left = Value::list({expected, Value::list({expected, expected})});
  Value right = Value::list({expected, got, expected});
  EXPECT_FALSE(compareValues(left, right, options).isComparable());
  options.flatten = true;
  EXPECT_EQ(compareValues(left, right, options).abs, 2);
}

TEST_F(Values, NoneIsLeftOutOnRequest) {
  MaxDiffOptions options;
  Value left = Value::list({expected, Value()}), right = Value::list({got, got});
  EXPECT_FALSE(compareValues(left, right, options).isComparable());
  options.skipNone = true;
  EXPECT_EQ(compareValues(left, right, options).n, 4);
  EXPECT_TRUE(compareValues(Value(), Value()).isZero());
}

TEST_F(Values, BeginAndEndSelectItems) {
  MaxDiffOptions options;
  options.begin = 1;
  options.end = 2;
  Value left = Value::list({expected, expected, expected}), right = Value::list({got, expected, got});
  EXPECT_EQ(compareValues(left, right, options).abs, 0);
}

TEST(Scalars, HaveASmallerBaseOfTheRelativeDifference) {
  MaxDiff diff = compareValues(Value::fromFloat(0), Value::fromInt(1));
  EXPECT_EQ(diff.abs, 1);
  EXPECT_EQ(diff.rel, 1 / 1e-5);
  EXPECT_EQ(diff.n, 1);
  EXPECT_EQ(compareValues(Value::fromFloat(std::nan("")), Value::fromFloat(2)).dnan, 1);
}

TEST_F(Values, DevicesThatDifferAreCounted) {
  Value onGpu = Value::fromTensor(zeros.view(), "T", "G"), onCpu = Value::fromTensor(zeros.view(), "T", "C");
  EXPECT_EQ(compareValues(Value::list({onGpu, onGpu}), Value::list({onCpu, onCpu})).dev, 2);
  EXPECT_TEXT(stringDiff(compareValues(onGpu, onCpu)), "abs=0.0, rel=0.0,amax=0,0, dev=1");
}
