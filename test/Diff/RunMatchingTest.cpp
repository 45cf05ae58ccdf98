// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "adjoint/Diff/RunMatching.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir::ad::diff;

namespace {

Record record(std::string op, std::string name, std::string hash, uint64_t run = 0, int64_t size = 4) {
  Record made;
  made.kind = "RESULT";
  made.dtype = "float32";
  made.shape = std::vector<Dim>{{size, ""}};
  made.op = std::move(op);
  made.name = std::move(name);
  made.hash = std::move(hash);
  made.run = run;
  return made;
}

std::vector<std::pair<size_t, size_t>> pairsOf(const RunMatching &matching) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const MatchedValues &pair : matching.pairs)
    pairs.emplace_back(pair.left, pair.right);
  return pairs;
}

using Pairs = std::vector<std::pair<size_t, size_t>>;

TEST(RunMatching, NamesComeBeforeOrderAndValues) {
  std::vector<Record> left = {record("ad.exp", "%a", "1"), record("ad.exp", "%b", "2")};
  std::vector<Record> right = {record("ad.exp", "%b", "1"), record("ad.exp", "%a", "2")};
  EXPECT_EQ(pairsOf(matchRuns(left, right)), (Pairs{{0, 1}, {1, 0}}));
}

TEST(RunMatching, OneOfSeveralIsAGuessAndTheOnlyOneIsNone) {
  std::vector<Record> one = {record("ad.exp", "%a", "1")}, other = {record("ad.exp", "%a", "2")};
  std::vector<Record> two = {record("ad.exp", "%a", "2"), record("ad.exp", "%a(2)", "3")};
  EXPECT_FALSE(matchRuns(one, other).pairs.at(0).isGuess);
  EXPECT_TRUE(matchRuns(one, two).pairs.at(0).isGuess);
  other[0].dtype = "bfloat16";
  EXPECT_TRUE(matchRuns(one, other).pairs.at(0).isGuess);
  other[0].dtype = "float32";
  other[0].op = "ad.log";
  EXPECT_TRUE(matchRuns(one, other).pairs.at(0).isGuess);
}

TEST(RunMatching, SeveralValuesInAnotherOrderAreGuesses) {
  std::vector<Record> left = {record("ad.mul", "%a", "1"), record("ad.mul", "%a(2)", "2")};
  std::vector<Record> moved = {record("ad.mul", "%a", "3"), record("ad.mul", "%a(2)", "1")};
  std::vector<Record> changed = {record("ad.mul", "%a", "1"), record("ad.mul", "%a(2)", "3")};
  EXPECT_TRUE(matchRuns(left, moved).pairs.at(0).isGuess);
  EXPECT_TRUE(matchRuns(left, moved).pairs.at(1).isGuess);
  EXPECT_FALSE(matchRuns(left, changed).pairs.at(1).isGuess);
}

TEST(RunMatching, ResultsOfTheProgramAndItsConstantsAreNoGuesses) {
  std::vector<Record> left = {record("", "y", "1")}, right = {record("", "y", "2")};
  left[0].kind = right[0].kind = "OUTPUT";
  right[0].dtype = "bfloat16";
  EXPECT_FALSE(matchRuns(left, right).pairs.at(0).isGuess);
  right[0].dtype = "float32";
  left[0].kind = right[0].kind = "INITIA";
  EXPECT_FALSE(matchRuns(left, right).pairs.at(0).isGuess);
  right.push_back(record("ad.exp", "y(2)", "3"));
  EXPECT_TRUE(matchRuns(left, right).pairs.at(0).isGuess);
}

TEST(RunMatching, IterationsAreApart) {
  std::vector<Record> left = {record("ad.exp", "%a", "1", 0), record("ad.exp", "%a", "2", 1)};
  std::vector<Record> right = {record("ad.exp", "%a", "2", 1)};
  RunMatching matching = matchRuns(left, right);
  EXPECT_EQ(pairsOf(matching), (Pairs{{1, 0}}));
  EXPECT_EQ(matching.onlyLeft, (std::vector<size_t>{0}));
}

TEST(RunMatching, AnOperationIsMatchedWithTheLastOfItsParts) {
  std::vector<Record> left = {record("ad.softmax", "%s", "1")};
  std::vector<Record> right = {record("ad.exp", "%s", "2"), record("ad.reduce_sum", "%s", "3", 0, 1),
                               record("ad.div", "%s", "4")};
  RunMatching matching = matchRuns(left, right);
  ASSERT_EQ(matching.pairs.size(), 1u);
  EXPECT_EQ(matching.pairs[0].right, 2u);
  EXPECT_EQ(matching.pairs[0].by, ValueMatch::LastNamed);
  EXPECT_TRUE(matching.pairs[0].isGuess);
  EXPECT_EQ(matching.onlyRight, (std::vector<size_t>{0, 1}));
}

TEST(RunMatching, OneOperationAndSeveralOfItsKind) {
  std::vector<Record> left = {record("ad.reduce_min", "%m", "1")};
  std::vector<Record> right = {record("ad.reduce_min", "%m", "2", 0, 8),
                               record("ad.reduce_min", "%m(2)", "3"), record("ad.reduce_min", "%m(3)", "1")};
  EXPECT_EQ(pairsOf(matchRuns(left, right)), (Pairs{{0, 2}}));
}

// Simplification has left one of three products; it is not the last one.
TEST(RunMatching, EqualBitsComeBeforeTheLastOfItsParts) {
  std::vector<Record> left = {record("ad.mul", "%s", "1")};
  std::vector<Record> right = {record("ad.mul", "%s", "1"), record("ad.mul", "%s(2)", "2"),
                               record("ad.mul", "%s(3)", "2")};
  EXPECT_EQ(pairsOf(matchRuns(left, right)), (Pairs{{0, 0}}));
  EXPECT_EQ(pairsOf(matchRuns(right, left)), (Pairs{{0, 0}}));
}

TEST(RunMatching, AnOperationAlongAnotherAxisIsMatchedWithItsTransposition) {
  std::vector<Record> left = {record("ad.argsort", "%a", "1")};
  std::vector<Record> right = {record("ad.transpose", "%a", "2"), record("ad.argsort", "%a", "3"),
                               record("ad.transpose", "%a(2)", "1")};
  EXPECT_EQ(pairsOf(matchRuns(left, right)), (Pairs{{0, 2}}));
  EXPECT_EQ(pairsOf(matchRuns(right, left)), (Pairs{{2, 0}}));
  right[2].hash = "4";
  ASSERT_EQ(pairsOf(matchRuns(left, right)), (Pairs{{0, 1}}));
  EXPECT_FALSE(matchRuns(left, right).pairs[0].isGuess);
}

TEST(RunMatching, AConstantOfAnotherTypeIsAnotherConstant) {
  Record left = record("", "%t", "1"), right = record("", "%t", "2", 0, 8);
  left.kind = right.kind = "INITIA";
  RunMatching matching = matchRuns({left}, {right});
  EXPECT_TRUE(matching.pairs.empty());
  EXPECT_EQ(matching.onlyRight, (std::vector<size_t>{0}));
}

// Such as a part of the derivative and a part of a sum.
TEST(RunMatching, AnotherOperationOfAnotherTypeIsAnotherValue) {
  std::vector<Record> left = {record("ad.broadcast", "%loss(2)", "1")};
  std::vector<Record> right = {record("ad.reduce_sum", "%loss(2)", "2", 0, 1)};
  EXPECT_TRUE(matchRuns(left, right).pairs.empty());
}

TEST(RunMatching, ANameOfAnotherTypeIsADifference) {
  Record left = record("ad.exp", "%a", "1"), right = left;
  right.dtype = "bfloat16";
  EXPECT_EQ(pairsOf(matchRuns(left, right)), (Pairs{{0, 0}}));
}

TEST(RunMatching, EqualValuesOfOtherNamesComeLastAndInOrder) {
  std::vector<Record> left = {record("ad.exp", "a.mlir:1:2", "7"), record("ad.exp", "a.mlir:2:2", "7")};
  std::vector<Record> right = {record("ad.exp", "b.mlir:4:2", "7"), record("ad.exp", "b.mlir:3:2", "7"),
                               record("ad.exp", "b.mlir:5:2", "8")};
  RunMatching matching = matchRuns(left, right);
  EXPECT_EQ(pairsOf(matching), (Pairs{{0, 0}, {1, 1}}));
  EXPECT_EQ(matching.onlyRight, (std::vector<size_t>{2}));
}

TEST(RunMatching, TypesAndSizesArePartOfTheBits) {
  EXPECT_EQ(compareBits(record("", "", "1"), record("", "", "1")), Verdict::Equal);
  EXPECT_EQ(compareBits(record("", "", "1"), record("", "", "2")), Verdict::Different);
  EXPECT_EQ(compareBits(record("", "", "1"), record("", "", "1", 0, 5)), Verdict::Different);
}

TEST(RunMatching, FingerprintsTellValuesApartButDoNotMakeThemEqual) {
  Record left = record("", "", ""), right = left;
  left.summary = right.summary = "ABCD";
  EXPECT_EQ(compareBits(left, right), Verdict::Unknown);
  right.hash = "1"; // of one side alone
  EXPECT_EQ(compareBits(left, right), Verdict::Unknown);
  right.summary = "ABCE";
  EXPECT_EQ(compareBits(left, right), Verdict::Different);
  right.summary = "????"; // none
  EXPECT_EQ(compareBits(left, right), Verdict::Unknown);
}

TEST(RunMatching, SizesThatAreNotKnownMayBeEqual) {
  Record left = record("", "", "1"), right = left;
  right.shape = std::nullopt;
  EXPECT_EQ(compareBits(left, right), Verdict::Equal);
  right.shape = std::vector<Dim>{{0, "n"}};
  EXPECT_EQ(compareBits(left, right), Verdict::Equal);
  right.shape = std::vector<Dim>{{0, "n"}, {2, ""}};
  EXPECT_EQ(compareBits(left, right), Verdict::Different);
}

TEST(ContentHash, SeparatesBitsAndJoinsNaNs) {
  auto hash = [](std::vector<float> values, int32_t rank = 1) {
    int64_t shape[] = {static_cast<int64_t>(values.size()), 1};
    return contentHash({values.data(), shape, rank, ADRT_F32});
  };
  EXPECT_EQ(hash({1, 2}), hash({1, 2}));
  EXPECT_NE(hash({1, 2}), hash({2, 1}));
  EXPECT_NE(hash({0.0f}), hash({-0.0f}));
  EXPECT_NE(hash({1, 2}), hash({1, 2}, 2));
  EXPECT_EQ(hash({1, std::nanf("1")}), hash({1, -std::nanf("2")}));
  EXPECT_NE(hash({1, std::nanf("1")}), hash({1, INFINITY}));
}

} // namespace
