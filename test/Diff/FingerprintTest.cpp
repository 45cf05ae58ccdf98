// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of fingerprints against golden letters, and of sums in the order of NumPy.
#include "adjoint/Diff/Fingerprint.h"
#include "TestTensors.h"
#include "adjoint/Diff/Statistics.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace mlir::ad::diff;
using unit::arange;
using unit::makeTensor;

static std::string ofShape(const std::vector<double> &sizes) {
  return fingerprint(makeTensor(ADRT_I64, {static_cast<int64_t>(sizes.size())}, sizes).view());
}

TEST(Fingerprint, IsThatOfTheShapesOfAModel) {
  const std::pair<std::vector<double>, const char *> cases[] = {{{2048, 512}, "USAA"},
                                                                {{2, 1024, 8, 64}, "CKIM"},
                                                                {{2, 8, 1024, 64}, "CIKM"},
                                                                {{1024}, "KAAA"},
                                                                {{16, 1024, 64}, "QKMA"},
                                                                {{16, 64, 1024}, "QMKA"},
                                                                {{16, 1024, 1024}, "QKKA"},
                                                                {{32, 32}, "GGAA"},
                                                                {{2, 1024, 512}, "CKSA"},
                                                                {{2, 8, 1024, 1024}, "CIKK"},
                                                                {{1, 1024}, "BKAA"},
                                                                {{-1}, "ZAAA"},
                                                                {{1}, "BAAA"}};
  for (const auto &[sizes, letters] : cases)
    EXPECT_EQ(ofShape(sizes), letters);
}

TEST(Fingerprint, DependsOnValuesAlone) {
  EXPECT_EQ(fingerprint(arange(ADRT_F32, {12}).view()), "DMVE");
  EXPECT_EQ(fingerprint(arange(ADRT_I32, {3, 4}).view()), "DMVE");
  EXPECT_EQ(fingerprint(arange(ADRT_BF16, {2, 2, 3}).view()), "DMVE");
  EXPECT_EQ(fingerprint(makeTensor(ADRT_F32, {}, {8}).view()), "IAAA");
  EXPECT_EQ(fingerprint(makeTensor(ADRT_F16, {2, 5}, std::vector<double>(10, 0)).view()), "AAAA");
  EXPECT_EQ(fingerprint(arange(ADRT_F32, {0}).view()), "AAAA");
}

TEST(Fingerprint, PadsTheLastPartWithZeros) {
  std::vector<double> values(13);
  for (int i = 0; i < 12; ++i)
    values[i] = i;
  EXPECT_EQ(fingerprint(makeTensor(ADRT_F64, {13}, values).view()), "GWMA");
  EXPECT_EQ(fingerprint(arange(ADRT_I64, {1, 1024}).view()), "KAQG");
  EXPECT_EQ(fingerprint(makeTensor(ADRT_F64, {5}, {1, 2, 3, 4, 5}).view()), "DHFA");
}

TEST(Fingerprint, TruncatesTowardsZero) {
  EXPECT_EQ(fingerprint(makeTensor(ADRT_F64, {4}, {-0.9, 0.9, -1.9, 25.9}).view()), "AAZZ");
}

TEST(Fingerprint, MarksNaNAndLargeSums) {
  EXPECT_EQ(fingerprint(makeTensor(ADRT_F64, {4}, {std::nan(""), 1e10, -1e10, 9999999999}).view()), "???P");
  EXPECT_EQ(fingerprint(makeTensor(ADRT_F32, {2}, {HUGE_VAL, -HUGE_VAL}).view()), "??AA");
}

TEST(PairwiseSum, DoesNotDependOnTheParts) {
  std::vector<double> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<double>(i));
  PairwiseSum whole(1000), parts(1000);
  whole.add(values.data(), 1000);
  int64_t first = 0;
  for (int64_t step = 1; first < 1000; step = step % 190 + 7) {
    int64_t count = std::min<int64_t>(step, 1000 - first);
    parts.add(values.data() + first, count);
    first += count;
  }
  EXPECT_EQ(whole.getResult(), parts.getResult());
  EXPECT_NEAR(whole.getResult(), -0.01290990645883694, 1e-12);
}

TEST(Statistics, LeaveOutNaN) {
  Statistics statistics = describeTensor(makeTensor(ADRT_F32, {4}, {std::nan(""), -2, 5, 0}).view());
  EXPECT_EQ(statistics.min, -2);
  EXPECT_EQ(statistics.max, 5);
  EXPECT_EQ(statistics.mean, 1);
  EXPECT_EQ(statistics.nans, 1);
}
