// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the string forms, and of numbers as Python prints them.
#include "adjoint/Diff/StringForms.h"
#include "TestTensors.h"
#include "adjoint/Diff/NumberText.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::ad::diff;
using unit::arange;
using unit::makeTensor;
using unit::Tensor;

static MaxDiff usualDiff(const Tensor &expected, const Tensor &got) {
  return compareTensors(expected.view(), got.view(), getUsualThresholds());
}

TEST(NumberText, CountsAreInThePluralUnlessThereIsOne) {
  EXPECT_EQ(countText(0, "origin"), "0 origins");
  EXPECT_EQ(countText(1, "origin"), "1 origin");
  EXPECT_EQ(countText(21, "origin"), "21 origins");
}

TEST(NumberText, IsThatOfPython) {
  const std::pair<double, const char *> cases[] = {{0, "0.0"},
                                                   {-0.0, "-0.0"},
                                                   {12, "12.0"},
                                                   {0.0001, "0.0001"},
                                                   {0.00001, "1e-05"},
                                                   {5.5e-7, "5.5e-07"},
                                                   {1e16, "1e+16"},
                                                   {1e15, "1000000000000000.0"},
                                                   {9999999999999998.0, "9999999999999998.0"},
                                                   {0.1, "0.1"},
                                                   {1e-300, "1e-300"},
                                                   {1.5e300, "1.5e+300"},
                                                   {0.000152587890625, "0.000152587890625"},
                                                   {5.568541537966721e-07, "5.568541537966721e-07"},
                                                   {HUGE_VAL, "inf"},
                                                   {-HUGE_VAL, "-inf"},
                                                   {std::nan(""), "nan"}};
  for (auto [value, text] : cases)
    EXPECT_EQ(pythonNumber(value), text);
  EXPECT_EQ(generalNumber(0.0625, 1), "0.06");
  EXPECT_EQ(generalNumber(3.0517578e-05, 1), "3e-05");
  EXPECT_EQ(generalNumber(0, 1), "0");
}

TEST(StringDiff, NamesThresholdsAndPosition) {
  Tensor expected = arange(ADRT_F32, {3, 4}), got = arange(ADRT_F32, {3, 4});
  auto *values = reinterpret_cast<float *>(got.getData());
  const std::pair<int64_t, float> changes[] = {{1, 0.1F}, {2, 0.01F}, {3, 0.001F}, {5, 0.0001F},
                                               {6, 1},    {10, 10},   {7, 100},    {9, 1000}};
  for (auto [index, value] : changes)
    values[index] += value;
  std::string text = stringDiff(usualDiff(expected, got));
  EXPECT_EQ(text.substr(text.find('/')),
            "/#8>0.0-#8>0.0001-#6>0.001-#5>0.01-#5>0.1-#3>1.0-#2>10.0-#1>100.0,amax=2,1");
  EXPECT_EQ(text.substr(0, text.find('/')), "abs=1000.0, rel=111.09876680368849, n=12.0");
}

TEST(StringDiff, LeavesOutTheCountOfEqualTensors) {
  Tensor tensor = arange(ADRT_F32, {3});
  MaxDiff diff = compareTensors(tensor.view(), tensor.view());
  diff.argm.reset();
  EXPECT_EQ(stringDiff(diff), "abs=0.0, rel=0.0");
  Value value = Value::fromTensor(tensor.view());
  EXPECT_EQ(stringDiff(compareValues(Value::list({value}), Value::list({value}))), "abs=0, rel=0");
}

TEST(StringDiff, HasTheTextOfAListOfTensors) {
  MaxDiff diff;
  diff.start = FieldStart::IntegerMaxima;
  diff.abs = 0.000152587890625;
  diff.rel = 5.568541537966721e-07;
  diff.n = 2359296;
  diff.rep = {{0, 1484455}, {1e-4, 2032}, {1e-3, 0}};
  EXPECT_EQ(stringDiff(diff),
            "abs=0.000152587890625, rel=5.568541537966721e-07, n=2359296.0/#1484455>0.0-#2032>0.0001");
}

// What version 0.9.3 of onnx-diagnostic prints of the same values.
TEST(StringDiff, HasTheFormsWithoutCountsOfTheReference) {
  Tensor two = makeTensor(ADRT_F32, {2}, {1, 2}), other = makeTensor(ADRT_F32, {2}, {1, 2.5});
  Tensor empty = makeTensor(ADRT_F32, {0}, {}), scalar = makeTensor(ADRT_F64, {}, {1}),
         half = makeTensor(ADRT_F64, {}, {1.5});
  double one[] = {1};
  auto list = [](std::vector<Value> items) { return Value::list(std::move(items)); };
  Value left = Value::fromTensor(two.view()), right = Value::fromTensor(other.view()),
        none = Value::fromTensor(empty.view());
  const std::tuple<Value, Value, const char *, const char *> cases[] = {
      {left, left, "abs=0.0, rel=0.0,amax=0", "abs=0.0, rel=0.0/,amax=0"},
      {left, right, "abs=0.5, rel=0.24987506246876562, n=2.0,amax=1",
       "abs=0.5, rel=0.24987506246876562, n=2.0/,amax=1"},
      {Value::fromTensor(scalar.view()), Value::fromTensor(half.view()),
       "abs=0.5, rel=0.4995004995004996, n=1.0,amax=", "abs=0.5, rel=0.4995004995004996, n=1.0/,amax="},
      {none, none, "abs=0, rel=0,amax=None", "abs=0, rel=0/,amax=None"},
      {Value(), Value(), "abs=0, rel=0", "abs=0, rel=0"},
      {list({}), list({}), "abs=0, rel=0", "abs=0, rel=0"},
      {list({left}), list({left}), "abs=0, rel=0", "abs=0, rel=0/"},
      {list({none}), list({none}), "abs=0, rel=0", "abs=0, rel=0/"},
      {list({Value()}), list({Value()}), "abs=0, rel=0", "abs=0, rel=0"},
      {list({left, left}), list({right, left}), "abs=0.5, rel=0.24987506246876562, n=4.0",
       "abs=0.5, rel=0.24987506246876562, n=4.0/"},
      {left, none, "abs=inf, rel=inf, n=inf, dnan=inf", "abs=inf, rel=inf, n=inf, dnan=inf"}};
  for (const auto &[expected, got, plain, counted] : cases) {
    EXPECT_EQ(stringDiff(compareValues(expected, got)), plain);
    EXPECT_EQ(stringDiff(compareValues(expected, got, {one})), counted);
  }
  EXPECT_EQ(stringDiffJSON(compareValues(none, none)),
            R"({"abs": 0, "rel": 0, "sum": 0, "n": 0, "dnan": 0, "argm": null})");
  EXPECT_EQ(stringDiffJSON(compareValues(list({left}), list({left}))),
            R"({"abs": 0, "rel": 0, "sum": 0.0, "n": 2.0, "dnan": 0})");
  EXPECT_EQ(stringDiffJSON(compareValues(Value(), Value())),
            R"({"abs": 0, "rel": 0, "sum": 0, "n": 0, "dnan": 0})");
}

TEST(StringDiff, NamesNaN) {
  Tensor left = makeTensor(ADRT_F32, {2}, {1, std::nan("")}), right = makeTensor(ADRT_F32, {2}, {1, 2});
  EXPECT_EQ(stringDiff(compareTensors(left.view(), right.view())),
            "abs=9999999998.0, rel=0.9999999997999001, n=2.0, dnan=1.0,amax=1");
}

TEST(StringDiff, HasAFormInJSON) {
  Tensor left = makeTensor(ADRT_F32, {2}, {0, 0}), right = makeTensor(ADRT_F32, {2}, {0, 0.5});
  double thresholds[] = {0, 1};
  MaxDiff diff = compareTensors(left.view(), right.view(), thresholds);
  EXPECT_EQ(
      stringDiffJSON(diff, /*ratios=*/true),
      R"({"abs": 0.5, "rel": 500.0, "sum": 0.5, "n": 2.0, "dnan": 0.0, "argm": [1], ">0.0": 1, ">1.0": 0, )"
      R"("%>0.0": 0.5, "%>1.0": 0.0, "mean": 0.25})");
  EXPECT_EQ(stringDiffJSON(makeIncomparable()),
            R"({"abs": Infinity, "rel": Infinity, "sum": Infinity, "n": Infinity, "dnan": Infinity})");
}

TEST(StringType, WritesContainersAndScalars) {
  Tensor array = makeTensor(ADRT_I64, {1}, {1});
  Value value = Value::dict({{"a", Value::fromTensor(array.view())},
                             {"b", Value::list({Value::fromFloat(5.6)})},
                             {"c", Value::tuple({Value::fromInt(1)})}});
  EXPECT_EQ(stringType(value), "dict(a:A7r1,b:#1[float],c:(int,))");
  EXPECT_EQ(stringType(Value::tuple({Value(), Value::fromText("x"), Value::fromBool(true)})),
            "(None,str,bool)");
  EXPECT_EQ(stringType(Value::set({Value::fromInt(1), Value::fromInt(2)})), "{int,int}");
  EXPECT_EQ(stringType(Value::object("DynamicCache",
                                     {{"key_cache", Value::list({Value::fromTensor(array.view(), "T")})},
                                      {"value_cache", Value::list({})}})),
            "DynamicCache(key_cache=#1[T7r1], value_cache=#0[])");
  std::vector<Value> many(20, Value::fromInt(3));
  EXPECT_EQ(stringType(Value::list(many)), "#20[int,...]");
  StringTypeOptions values;
  values.minMax = true;
  EXPECT_EQ(stringType(Value::list({Value::fromFloat(5.6), Value::fromInt(1)}), values),
            "#2[float=5.6,int=1]");
}

TEST(StringType, WritesDeviceTypeShapeAndRange) {
  StringTypeOptions all;
  all.shape = all.minMax = all.device = true;
  Tensor f32 = makeTensor(ADRT_F32, {2, 1, 2}, {240.0281982421875, 333.2430725097656, 280, 290});
  EXPECT_EQ(stringType(Value::list({Value::fromTensor(f32.view(), "T", "C")}), all),
            "#1[CT1s2x1x2[240.0281982421875,333.2430725097656:A285.8178176879883]]");
  Tensor f16 = makeTensor(ADRT_F16, {1, 2}, {234.375, 335.25});
  EXPECT_EQ(stringType(Value::fromTensor(f16.view(), "T", "G"), all), "GT10s1x2[234.375,335.25:A284.8125]");
  Tensor bf16 = makeTensor(ADRT_BF16, {2}, {1, 2});
  EXPECT_EQ(stringType(Value::fromTensor(bf16.view()), all), "A16s2[1.0,2.0:A1.5]");
  EXPECT_EQ(stringType(Value::fromTensor(arange(ADRT_I32, {3, 4}).view()), all).substr(0, 5), "A6s3x");
}

// A tensor with these extremes and this mean. Elements above 256 have the step, those below half of it. Sums
// of them are exact.
static Tensor ofRange(adrt_type type, const std::vector<int64_t> &shape, double min, double max, double mean,
                      double step) {
  Tensor tensor = llvm::cantFail(Tensor::create(type, shape));
  int64_t count = tensor.getElementCount(), others = count - 3;
  double low = std::floor(mean / step) * step, below = 250;
  double missing = mean * static_cast<double>(count) - min - max - low * static_cast<double>(others) - below;
  auto halves = static_cast<int64_t>(std::round(2 * missing / step));
  if (halves % 2 != 0)
    below += step / 2;
  low += step * static_cast<double>(halves / 2 / others);
  int64_t raised = halves / 2 % others;
  auto store = [&](int64_t i, double value) {
    adrt::storeFromDouble(type, value, tensor.getData() + i * adrt::elementSize(type));
  };
  for (int64_t i = 0; i < others; ++i)
    store(i, i < raised ? low + step : low);
  for (auto [i, value] : {std::pair(others, min), {others + 1, max}, {others + 2, below}})
    store(i, value);
  return tensor;
}

TEST(StringType, HasTheRecordedTexts) {
  StringTypeOptions all;
  all.shape = all.minMax = all.device = true;
  Tensor f32 =
      ofRange(ADRT_F32, {2, 1024, 1152}, 240.0281982421875, 333.2430725097656, 285.0493383403518, 0x1p-15);
  EXPECT_EQ(stringType(Value::list({Value::fromTensor(f32.view(), "T", "C")}), all),
            "#1[CT1s2x1024x1152[240.0281982421875,333.2430725097656:A285.0493383403518]]");
  Tensor f16 = ofRange(ADRT_F16, {32, 1024, 1152}, 234.375, 335.25, 285.04108573993045, 0.25);
  EXPECT_EQ(stringType(Value::list({Value::fromTensor(f16.view(), "T", "G")}), all),
            "#1[GT10s32x1024x1152[234.375,335.25:A285.04108573993045]]");
}

TEST(StringType, WritesScalarsEmptyTensorsAndNaN) {
  StringTypeOptions all;
  all.shape = all.minMax = true;
  double nan = std::nan("");
  Tensor scalar = makeTensor(ADRT_F32, {}, {2.5}), empty = makeTensor(ADRT_F32, {0, 3}, {});
  Tensor some = makeTensor(ADRT_F64, {4}, {nan, 1, 3, nan}), every = makeTensor(ADRT_F32, {2}, {nan, nan});
  Tensor flags = makeTensor(ADRT_I1, {2}, {0, 1});
  EXPECT_EQ(stringType(Value::fromTensor(scalar.view()), all), "A1s=2.5");
  EXPECT_EQ(stringType(Value::fromTensor(empty.view()), all), "A1s0x3[empty]");
  EXPECT_EQ(stringType(Value::fromTensor(some.view()), all), "A11s4[1.0,3.0:A2.0N2nans]");
  EXPECT_EQ(stringType(Value::fromTensor(every.view()), all), "A1s2[N2nans]");
  EXPECT_EQ(stringType(Value::fromTensor(flags.view()), all), "A9s2[False,True:A0.5]");
}

TEST(StringType, HasTheNumbersOfONNX) {
  const std::pair<adrt_type, int> cases[] = {
      {ADRT_F32, 1},  {ADRT_I8, 3},   {ADRT_I32, 6},   {ADRT_I64, 7},       {ADRT_I1, 9},
      {ADRT_F16, 10}, {ADRT_F64, 11}, {ADRT_BF16, 16}, {ADRT_F8E4M3FN, 17}, {ADRT_F8E5M2, 19}};
  for (auto [type, number] : cases)
    EXPECT_EQ(onnxType(type), number);
}
