// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "CauseSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::ad;
using namespace mlir::ad::diff;
using llvm::Expected;

// Rewrites that need a permission, and casts and kernels that were asked for, change bits more often than
// those that keep all bits unless the compiler is wrong. The search is shorter if the cause comes early.
static std::vector<Rewrite> candidatesOf(const std::set<Rewrite> &varied, const std::set<Rewrite> &base) {
  std::vector<Rewrite> candidates, exact;
  for (const Rewrite &rewrite : varied)
    if (!base.count(rewrite))
      (rewrite.permission != "none" ? candidates : exact).push_back(rewrite);
  candidates.insert(candidates.end(), exact.begin(), exact.end());
  return candidates;
}

Expected<CauseSearch::Differences> CauseSearch::compareWith(const RunnerProcess::Run &base, const Side &side,
                                                            const std::set<Rewrite> &only) {
  if (progress)
    progress(process.getCount() + 1);
  Expected<RunnerProcess::Run> run = process.run(side, &only);
  if (!run)
    return run.takeError();
  return compareRuns(base.results, run->results, bound);
}

Expected<bool> CauseSearch::explain(const RunnerProcess::Run &base, const Side &varied,
                                    const RunnerProcess::Run &variedRun, Cause &cause) {
  std::vector<Rewrite> candidates = candidatesOf(variedRun.rewrites, base.rewrites);
  if (candidates.empty())
    return false;
  // Rewrites of the base stay allowed: a candidate that is left out may make one of them necessary.
  const std::set<Rewrite> &common = base.rewrites;
  MinimalSetSearch search([&](const ChangeSet &changes) -> Expected<bool> {
    std::set<Rewrite> only = common;
    for (size_t change : changes)
      only.insert(candidates[change]);
    Expected<Differences> differences = compareWith(base, varied, only);
    if (!differences)
      return differences.takeError();
    return !differences->empty();
  });
  Expected<bool> withoutAny = search.has({});
  if (!withoutAny || *withoutAny)
    return withoutAny ? Expected<bool>(false) : withoutAny.takeError();
  Expected<ChangeSet> found = search.find(candidates.size());
  if (!found)
    return found.takeError();

  // The proof: the found ones alone, and all others without them.
  std::set<Rewrite> alone = common, others = variedRun.rewrites;
  others.insert(common.begin(), common.end());
  for (size_t change : *found) {
    cause.rewrites.push_back(candidates[change]);
    alone.insert(candidates[change]);
    others.erase(candidates[change]);
  }
  Expected<Differences> differencesAlone = compareWith(base, varied, alone);
  if (!differencesAlone)
    return differencesAlone.takeError();
  Expected<Differences> differencesOfOthers = compareWith(base, varied, others);
  if (!differencesOfOthers)
    return differencesOfOthers.takeError();
  cause.kind = CauseKind::Rewrites;
  cause.side = varied.name;
  cause.candidates = candidates.size();
  cause.alone = std::move(*differencesAlone);
  cause.othersRemain = !differencesOfOthers->empty();
  return true;
}

Expected<Cause> CauseSearch::find(const Side &a, const Side &b) {
  Cause cause;
  Expected<RunnerProcess::Run> runA = process.run(a);
  if (!runA)
    return runA.takeError();
  Expected<RunnerProcess::Run> runB = process.run(b);
  if (!runB)
    return runB.takeError();
  if (llvm::Error error = compareRuns(runA->results, runB->results, bound).moveInto(cause.differences))
    return std::move(error);
  if (cause.differences.empty())
    return cause;
  cause.kind = CauseKind::Elsewhere;
  Expected<bool> explained = explain(*runA, b, *runB, cause);
  if (explained && !*explained)
    explained = explain(*runB, a, *runA, cause);
  if (!explained)
    return explained.takeError();
  return cause;
}
