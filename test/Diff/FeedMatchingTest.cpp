// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of matching the inputs of two runs.
#include "adjoint/Diff/FeedMatching.h"
#include "ExpectText.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::ad::diff;

static Record input(const char *name, const char *summary = "AAAA", const char *shape = "2x2") {
  return {"INPUT", "float32", parseShape(shape), summary, "", name, ""};
}

static std::string matches(const FeedMatching &matching, llvm::ArrayRef<Record> left,
                           llvm::ArrayRef<Record> right) {
  std::string text;
  for (const FeedMatch &match : matching.matches)
    text += left[match.left].name + "=" + right[match.right].name + " ";
  return text;
}

TEST(FeedMatching, TakesNamesFirst) {
  std::vector<Record> left = {input("q", "QQQQ"), input("k", "KKKK")},
                      right = {input("k", "KKKK"), input("q", "QQQQ")};
  FeedMatching matching = matchFeeds(left, right);
  EXPECT_EQ(matches(matching, left, right), "q=q k=k ");
  EXPECT_TRUE(matching.warnings.empty());
}

TEST(FeedMatching, TakesFingerprintsWhereNamesDiffer) {
  std::vector<Record> left = {input("w4", "OOOO"), input("w1", "QQQQ")},
                      right = {input("a", "QQQQ"), input("b", "OOOO")};
  FeedMatching matching = matchFeeds(left, right);
  EXPECT_EQ(matches(matching, left, right), "w4=b w1=a ");
  EXPECT_EQ(matching.matches[0].by, MatchedBy::Fingerprint);
  EXPECT_TRUE(matching.warnings.empty());
}

TEST(FeedMatching, WarnsOfAmbiguousInputs) {
  std::vector<Record> left = {input("w1"), input("w2"), input("x", "XXXX", "3")},
                      right = {input("a"), input("b"), input("y", "YYYY", "3")};
  FeedMatching matching = matchFeeds(left, right);
  EXPECT_EQ(matches(matching, left, right), "w1=a w2=b x=y ");
  EXPECT_EQ(matching.matches[0].by, MatchedBy::Order);
  EXPECT_EQ(matching.matches[2].by, MatchedBy::Shape);
  ASSERT_EQ(matching.warnings.size(), 2U);
  EXPECT_TEXT(matching.warnings[0],
              "inputs of type float32 2x2 are ambiguous and matched by their order: 'w1' with "
              "'a', 'w2' with 'b'; give both runs the same names");
  EXPECT_TEXT(matching.warnings[1],
              "input 'x' has other values in the right run: fingerprints XXXX and YYYY");
}

TEST(FeedMatching, WarnsOfMissingInputsAndOtherTypes) {
  std::vector<Record> left = {input("x"), input("z", "AAAA", "7")},
                      right = {input("x", "AAAA", "4"), input("u", "AAAA", "9")};
  FeedMatching matching = matchFeeds(left, right);
  EXPECT_EQ(matches(matching, left, right), "x=x ");
  std::string warnings = llvm::join(matching.warnings, "\n");
  EXPECT_TEXT(warnings, "input 'z' of type float32 7 has none to match in the right run");
  EXPECT_TEXT(warnings, "input 'u' of type float32 9 has none to match in the left run");
  EXPECT_TEXT(warnings, "input 'x' is float32 2x2 in the left run, float32 4 in the right one");
}
