// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which of many changes are behind an effect: the algorithm QuickXplain (U. Junker, AAAI 2004). It finds one
// set of changes that has the effect and of which no change can be left out, changes that only act together
// too. A single change among n needs at most log2(n) + 2 tests: the first change that is found is tried
// alone.
#ifndef ADJOINT_DIFF_MINIMALSET_H
#define ADJOINT_DIFF_MINIMALSET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace mlir::ad::diff {

/// Changes are numbers from 0 on; those that are more likely to matter come first.
using ChangeSet = std::vector<size_t>;

class MinimalSetSearch {
public:
  /// Whether the changes, in ascending order, have the effect together.
  using Test = std::function<llvm::Expected<bool>(const ChangeSet &)>;

  explicit MinimalSetSearch(Test test) : test(std::move(test)) {}

  /// The minimal set among `count` changes, in ascending order. All changes together must have the effect,
  /// and none at all must not have it. If one change hides the effect of another, the set may not be minimal.
  llvm::Expected<ChangeSet> find(size_t count);

  /// Leaves out what the effect does not need: afterwards no single change can be left out. For effects of
  /// which one change hides another one. `changes` must have the effect.
  llvm::Error dropNeedless(ChangeSet &changes);

  /// The result of the test; each set is tested once.
  llvm::Expected<bool> has(ChangeSet changes);
  /// How many sets were tested.
  size_t getTestCount() const { return known.size(); }

private:
  llvm::Expected<ChangeSet> explain(const ChangeSet &background, bool grew,
                                    llvm::ArrayRef<size_t> candidates);

  Test test;
  std::map<ChangeSet, bool> known;
  std::optional<ChangeSet> single; ///< of this search: a change that has the effect alone
};

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_MINIMALSET_H
