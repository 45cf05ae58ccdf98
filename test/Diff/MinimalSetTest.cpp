// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The set that is found is one that was planted, whatever its size and place, and single changes need few
// tests.
#include "adjoint/Diff/MinimalSet.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir::ad::diff;

namespace {

MinimalSetSearch searchFor(const std::vector<ChangeSet> &causes) {
  return MinimalSetSearch([causes](const ChangeSet &changes) -> llvm::Expected<bool> {
    return llvm::any_of(causes, [&](const ChangeSet &cause) {
      return llvm::all_of(cause, [&](size_t change) { return llvm::is_contained(changes, change); });
    });
  });
}

ChangeSet find(MinimalSetSearch &search, size_t count) { return llvm::cantFail(search.find(count)); }

TEST(MinimalSet, FindsEachSingleChangeWithFewTests) {
  for (size_t cause = 0; cause < 200; ++cause) {
    MinimalSetSearch search = searchFor({{cause}});
    EXPECT_EQ(find(search, 200), ChangeSet({cause}));
    EXPECT_LE(search.getTestCount(), 9u) << cause;
  }
  MinimalSetSearch early = searchFor({{0}});
  find(early, 256);
  EXPECT_LE(early.getTestCount(), 9u);
}

TEST(MinimalSet, FindsChangesThatActTogether) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    size_t count = 1 + random() % 60;
    ChangeSet cause;
    for (size_t change = 0; change < count; ++change)
      if (random() % 8 == 0)
        cause.push_back(change);
    if (cause.empty())
      continue;
    MinimalSetSearch search = searchFor({cause});
    EXPECT_EQ(find(search, count), cause);
  }
}

TEST(MinimalSet, FindsOneOfSeveralCauses) {
  MinimalSetSearch search = searchFor({{3, 40}, {9}, {50}});
  ChangeSet found = find(search, 64);
  EXPECT_TRUE(found == ChangeSet({3, 40}) || found == ChangeSet({9}) || found == ChangeSet({50}));
}

TEST(MinimalSet, TestsNoSetTwice) {
  std::vector<ChangeSet> tested;
  MinimalSetSearch search([&](const ChangeSet &changes) -> llvm::Expected<bool> {
    EXPECT_FALSE(llvm::is_contained(tested, changes));
    tested.push_back(changes);
    return llvm::is_contained(changes, 5u) && llvm::is_contained(changes, 6u);
  });
  EXPECT_EQ(find(search, 12), ChangeSet({5, 6}));
  EXPECT_EQ(search.getTestCount(), tested.size());
}

TEST(MinimalSet, DropsChangesOneAtATime) {
  MinimalSetSearch search = searchFor({{1, 4}});
  ChangeSet changes = {0, 1, 2, 4, 7};
  llvm::cantFail(search.dropNeedless(changes));
  EXPECT_EQ(changes, ChangeSet({1, 4}));
}

// The change 2 has the effect unless 3 is there without 1. So 1 can only be left out after 3.
TEST(MinimalSet, DropsChangesThatAnotherOneMadeNecessary) {
  MinimalSetSearch search([](const ChangeSet &changes) -> llvm::Expected<bool> {
    return llvm::is_contained(changes, 2u) &&
           (!llvm::is_contained(changes, 3u) || llvm::is_contained(changes, 1u));
  });
  ChangeSet changes = {1, 2, 3};
  llvm::cantFail(search.dropNeedless(changes));
  EXPECT_EQ(changes, ChangeSet({2}));
}

TEST(MinimalSet, PassesErrorsOn) {
  MinimalSetSearch search([](const ChangeSet &) -> llvm::Expected<bool> {
    return mlir::ad::runner::usageError("the run failed");
  });
  llvm::Expected<ChangeSet> found = search.find(4);
  ASSERT_FALSE(found);
  EXPECT_EQ(llvm::toString(found.takeError()), "the run failed");
}

} // namespace
