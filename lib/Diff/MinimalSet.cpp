// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "adjoint/Diff/MinimalSet.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir::ad::diff;
using llvm::ArrayRef;
using llvm::Expected;

static ChangeSet join(const ChangeSet &left, ArrayRef<size_t> right) {
  ChangeSet all = left;
  all.insert(all.end(), right.begin(), right.end());
  llvm::sort(all);
  return all;
}

Expected<bool> MinimalSetSearch::has(ChangeSet changes) {
  llvm::sort(changes);
  if (auto found = known.find(changes); found != known.end())
    return found->second;
  Expected<bool> result = test(changes);
  if (result)
    known[std::move(changes)] = *result;
  return result;
}

// The candidates that the effect needs beside the background. If the background `grew` since the last test,
// it may have the effect by itself.
Expected<ChangeSet> MinimalSetSearch::explain(const ChangeSet &background, bool grew,
                                              ArrayRef<size_t> candidates) {
  if (grew) {
    Expected<bool> enough = has(background);
    if (!enough)
      return enough.takeError();
    if (*enough)
      return ChangeSet();
  }
  if (candidates.size() == 1) {
    ChangeSet found(candidates.begin(), candidates.end());
    // Most causes are single: one test here replaces those that would leave out all others.
    Expected<bool> aloneEnough = has(found);
    if (!aloneEnough)
      return aloneEnough.takeError();
    if (*aloneEnough)
      single = found;
    return found;
  }
  ArrayRef<size_t> first = candidates.take_front(candidates.size() / 2);
  ArrayRef<size_t> second = candidates.drop_front(first.size());
  Expected<ChangeSet> inSecond = explain(join(background, first), true, second);
  if (!inSecond || single)
    return inSecond;
  Expected<ChangeSet> inFirst = explain(join(background, *inSecond), !inSecond->empty(), first);
  if (!inFirst || single)
    return inFirst;
  return join(*inFirst, *inSecond);
}

Expected<ChangeSet> MinimalSetSearch::find(size_t count) {
  if (count == 0)
    return ChangeSet();
  ChangeSet all(count);
  std::iota(all.begin(), all.end(), 0);
  single.reset();
  Expected<ChangeSet> found = explain({}, false, all);
  return found && single ? *single : std::move(found);
}

llvm::Error MinimalSetSearch::dropNeedless(ChangeSet &changes) {
  for (size_t i = 0; i < changes.size();) {
    ChangeSet without = changes;
    without.erase(without.begin() + static_cast<ptrdiff_t>(i));
    Expected<bool> enough = has(without);
    if (!enough)
      return enough.takeError();
    if (*enough) {
      changes = std::move(without);
      i = 0;
    } else {
      ++i;
    }
  }
  return llvm::Error::success();
}
