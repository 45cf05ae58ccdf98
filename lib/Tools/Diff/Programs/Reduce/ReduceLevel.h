// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A block whose operations ad-diff reduce chooses from. Internal to the search.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_REDUCELEVEL_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_REDUCELEVEL_H

#include "ReduceSearch.h"

#include <numeric>

namespace mlir::ad::diff {

/// Units are numbered as in `units`.
struct ReduceSearch::Level {
  Block *block = nullptr;
  std::vector<Operation *> units;
  std::unique_ptr<BlockValues> values;
  std::map<ChangeSet, Differences> known; ///< of slices that ran
  bool singlesDiffer = false;             ///< side by side, though those that were tried do not differ alone

  /// Of slices that ran.
  ChangeSet smallestDifferent() const {
    ChangeSet smallest = all();
    for (const auto &[units, differences] : known)
      if (!differences.empty() && units.size() < smallest.size())
        smallest = units;
    return smallest;
  }
  ChangeSet all() const {
    ChangeSet numbers(units.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  /// The units that compute operands of a unit.
  ChangeSet producersOf(size_t unit) const {
    ChangeSet producers;
    for (size_t other = 0; other < unit; ++other)
      if (llvm::is_contained(units[other]->getUsers(), units[unit]))
        producers.push_back(other);
    return producers;
  }
  std::vector<Operation *> select(const ChangeSet &numbers) const {
    std::vector<Operation *> selected;
    for (size_t number : numbers)
      selected.push_back(units[number]);
    return selected;
  }
};

Reduction::Operation describeOperation(Operation *op);
/// Name and location of each operation that the program differentiates, with those of functions that it
/// calls. The program must not be differentiated yet.
std::set<std::string> differentiatedOperations(ModuleOp source);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_REDUCELEVEL_H
