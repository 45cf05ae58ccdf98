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

// The rewrites of both sets with one name and permission, the largest groups first.
static std::vector<std::vector<Rewrite>> groupsOfShared(const std::set<Rewrite> &a,
                                                        const std::set<Rewrite> &b) {
  std::vector<std::vector<Rewrite>> groups;
  for (const Rewrite &rewrite : a) {
    if (!b.count(rewrite))
      continue;
    if (groups.empty() || groups.back().front().name != rewrite.name ||
        groups.back().front().permission != rewrite.permission)
      groups.emplace_back();
    groups.back().push_back(rewrite);
  }
  llvm::sort(groups, [](const auto &left, const auto &right) {
    return left.size() != right.size() ? left.size() > right.size() : left.front() < right.front();
  });
  return groups;
}

static bool differ(const std::optional<std::vector<ResultDiff>> &differences) {
  return differences && !differences->empty();
}

Expected<CauseSearch::Run> CauseSearch::run(const Side &side, const std::set<Rewrite> &only) {
  if (progress)
    progress(process.getCount() + 1);
  return process.run(side, &only);
}

Expected<CauseSearch::Differences> CauseSearch::compareWith(const Run &base, const Side &side,
                                                            const std::set<Rewrite> &only) {
  Expected<Run> varied = run(side, only);
  if (!varied)
    return varied.takeError();
  if (!varied->failure.empty())
    return Differences();
  Differences differences;
  if (llvm::Error error = compareRuns(base.results, varied->results, bound).moveInto(differences))
    return std::move(error);
  return std::move(differences);
}

Expected<CauseSearch::Differences> CauseSearch::compareBoth(const Side &a, const Side &b,
                                                            const std::set<Rewrite> &only) {
  Expected<Run> base = run(a, only);
  if (!base)
    return base.takeError();
  return !base->failure.empty() ? Differences() : compareWith(*base, b, only);
}

CauseSearch::Trial CauseSearch::remembering(Trial trial) {
  auto known = std::make_shared<std::map<std::set<Rewrite>, Differences>>();
  return [known, trial = std::move(trial)](const std::set<Rewrite> &only) -> Expected<Differences> {
    if (auto found = known->find(only); found != known->end())
      return found->second;
    Expected<Differences> differences = trial(only);
    if (differences)
      (*known)[only] = *differences;
    return differences;
  };
}

static std::set<Rewrite> with(std::set<Rewrite> set, const std::vector<Rewrite> &more) {
  set.insert(more.begin(), more.end());
  return set;
}

static std::set<Rewrite> without(std::set<Rewrite> set, const std::vector<Rewrite> &less) {
  for (const Rewrite &rewrite : less)
    set.erase(rewrite);
  return set;
}

llvm::Error CauseSearch::findAmong(const std::vector<Rewrite> &candidates,
                                   const std::set<Rewrite> &background, const std::set<Rewrite> &all,
                                   const Trial &trial, Cause &cause) {
  MinimalSetSearch search([&](const ChangeSet &changes) -> Expected<bool> {
    // The caller has tried it: the results are equal, or the program does not compile.
    if (changes.empty())
      return false;
    std::set<Rewrite> only = background;
    for (size_t change : changes)
      only.insert(candidates[change]);
    Expected<Differences> differences = trial(only);
    if (!differences)
      return differences.takeError();
    return differ(*differences);
  });
  Expected<ChangeSet> found = search.find(candidates.size());
  if (!found)
    return found.takeError();

  // The proof: the found ones alone, and all others without them.
  for (size_t change : *found)
    cause.rewrites.push_back(candidates[change]);
  std::set<Rewrite> alone = with(background, cause.rewrites), others = without(all, cause.rewrites);
  Differences ofAlone, ofOthers;
  if (llvm::Error error = trial(alone).moveInto(ofAlone))
    return error;
  if (llvm::Error error = trial(others).moveInto(ofOthers))
    return error;
  cause.candidates = candidates.size();
  cause.allowed = std::move(alone);
  cause.aloneCompiles = ofAlone.has_value();
  cause.alone = std::move(ofAlone).value_or(std::vector<ResultDiff>());
  cause.othersRemain = differ(ofOthers);
  cause.neededToCompile = !ofOthers;
  return llvm::Error::success();
}

Expected<Cause> CauseSearch::explain(const Direction &direction, Cause cause) {
  Trial trial = remembering(
      [&](const std::set<Rewrite> &only) { return compareWith(direction.base, direction.varied, only); });
  // Rewrites of the base stay allowed: a candidate that is left out may make one of them necessary.
  const std::set<Rewrite> &background = direction.base.rewrites;
  if (llvm::Error error =
          findAmong(direction.candidates, background, with(background, direction.candidates), trial, cause))
    return std::move(error);
  cause.kind = CauseKind::Rewrites;
  cause.side = direction.varied.name;
  return std::move(cause);
}

// Rewrites that keep all bits may be left out of one side alone, which halves the executions. B comes first:
// it is the new build more often.
llvm::Error CauseSearch::findShared(Cause &cause, const std::set<std::string> *locations,
                                    llvm::StringRef changedSide) {
  std::vector<std::vector<Rewrite>> groups = groupsOfShared(runA.rewrites, runB.rewrites);
  auto varied = [this](const Run &base, const Side &side) {
    return remembering([&](const std::set<Rewrite> &only) { return compareWith(base, side, only); });
  };
  Trial both = remembering([&](const std::set<Rewrite> &only) { return compareBoth(*a, *b, only); });
  std::vector<Trial> oneSided;
  if (changedSide != "A")
    oneSided.push_back(varied(runA, *b));
  if (changedSide != "B")
    oneSided.push_back(varied(runB, *a));
  for (size_t number = 0; number < oneSided.size(); ++number)
    for (const std::vector<Rewrite> &group : groups) {
      std::vector<Rewrite> candidates = group;
      llvm::erase_if(candidates, [&](const Rewrite &rewrite) {
        return locations && !locations->count(rewrite.location);
      });
      bool keepsBits = group.front().permission == "none";
      if (candidates.empty() || (number > 0 && !keepsBits))
        continue;
      if (llvm::Error error = findSharedIn(group, candidates, keepsBits ? oneSided[number] : both, cause))
        return error;
      if (cause.kind == CauseKind::Shared)
        return llvm::Error::success();
    }
  return llvm::Error::success();
}

// If another one of the group makes a difference, too, the candidates are tried without the rest of it.
llvm::Error CauseSearch::findSharedIn(const std::vector<Rewrite> &group,
                                      const std::vector<Rewrite> &candidates, const Trial &trial,
                                      Cause &cause) {
  std::set<Rewrite> all = with(runA.rewrites, {runB.rewrites.begin(), runB.rewrites.end()});
  std::set<Rewrite> background = without(all, candidates);
  Expected<Differences> left = trial(background);
  if (!left)
    return left.takeError();
  if (!*left)
    cause.required.insert(cause.required.end(), candidates.begin(), candidates.end());
  if (differ(*left) && candidates.size() < group.size()) {
    background = without(all, group);
    if (llvm::Error error = trial(background).moveInto(left.get()))
      return error;
    Expected<Differences> some =
        *left && !differ(*left) ? trial(with(background, candidates)) : Differences();
    if (!some)
      return some.takeError();
    if (!differ(*some))
      return llvm::Error::success();
  }
  if (!*left || differ(*left))
    return llvm::Error::success();
  if (llvm::Error error = findAmong(candidates, background, all, trial, cause))
    return error;
  cause.candidates = group.size();
  cause.kind = CauseKind::Shared;
  return llvm::Error::success();
}

// A target may need exact rewrites that the other one does not have, so these are kept at first.
llvm::Error CauseSearch::explainSides(Cause &cause) {
  std::vector<Rewrite> ofA = candidatesOf(runA.rewrites, runB.rewrites),
                       ofB = candidatesOf(runB.rewrites, runA.rewrites);
  auto changesBits = [](const Rewrite &rewrite) { return rewrite.permission != "none"; };
  bool someOfA = llvm::any_of(ofA, changesBits), someOfB = llvm::any_of(ofB, changesBits);
  std::set<Rewrite> common = without(runA.rewrites, ofA), keptA = runA.rewrites, keptB = runB.rewrites;
  llvm::erase_if(ofA, [&](const Rewrite &rewrite) { return !changesBits(rewrite); });
  llvm::erase_if(ofB, [&](const Rewrite &rewrite) { return !changesBits(rewrite); });
  if ((someOfA && someOfB) || (!needed.empty() && (someOfA || someOfB)))
    if (llvm::Error error = explainSides(without(keptA, ofA), without(keptB, ofB), cause))
      return error;
  bool both = common.size() < keptA.size() && common.size() < keptB.size();
  return cause.kind == CauseKind::Elsewhere && both ? explainSides(common, common, cause)
                                                    : llvm::Error::success();
}

llvm::Error CauseSearch::explainPart(const Part &part, const Cause &whole, std::vector<Cause> &found) {
  Expected<std::vector<ResultDiff>> all = compareRuns(part.base.results, part.run.results, bound);
  if (!all)
    return all.takeError();
  if (all->empty())
    return llvm::Error::success();
  Cause cause;
  cause.differences = whole.differences;
  Trial trial =
      remembering([&](const std::set<Rewrite> &only) { return compareWith(part.base, part.side, only); });
  if (llvm::Error error =
          findAmong(candidatesOf(part.run.rewrites, part.kept), part.kept,
                    with(part.run.rewrites, {part.kept.begin(), part.kept.end()}), trial, cause))
    return error;
  // Exact rewrites of this side alone are none of the candidates if they are kept.
  cause.candidates = candidatesOf(part.run.rewrites, part.other.rewrites).size();
  cause.kind = CauseKind::Rewrites;
  cause.side = part.side.name;
  cause.base = part.keptByOther;
  found.push_back(std::move(cause));
  return llvm::Error::success();
}

Expected<std::set<Rewrite>> CauseSearch::findReplacements(const Side &side, const Run &run,
                                                          const std::set<Rewrite> &kept) {
  std::set<Rewrite> leftOut = without(run.rewrites, {kept.begin(), kept.end()}), replacements;
  if (progress)
    progress(process.getCount() + 1);
  Expected<Run> other = process.runExcept(side, leftOut);
  if (!other)
    return other.takeError();
  for (const Rewrite &rewrite : other->rewrites)
    if (rewrite.permission == "none" && !kept.count(rewrite))
      replacements.insert(rewrite);
  return replacements;
}

Expected<std::optional<std::pair<CauseSearch::Run, CauseSearch::Run>>>
CauseSearch::runBases(const std::set<Rewrite> &keptA, const std::set<Rewrite> &keptB) {
  std::optional<std::pair<Run, Run>> bases;
  Expected<Run> baseA = keptA == runA.rewrites ? runA : run(*a, keptA);
  if (!baseA)
    return baseA.takeError();
  if (!baseA->failure.empty())
    return bases;
  Expected<Run> baseB = keptB == runB.rewrites ? runB : run(*b, keptB);
  if (!baseB)
    return baseB.takeError();
  if (baseB->failure.empty())
    bases = {std::move(*baseA), std::move(*baseB)};
  return bases;
}

llvm::Error CauseSearch::explainSides(std::set<Rewrite> keptA, std::set<Rewrite> keptB, Cause &cause) {
  Expected<std::optional<std::pair<Run, Run>>> bases = runBases(keptA, keptB);
  if (!bases)
    return bases.takeError();
  if (!*bases) { // what is left out may be in place of something that is needed then
    for (auto [side, run, kept] : {std::tuple(a, &runA, &keptA), {b, &runB, &keptB}}) {
      Expected<std::set<Rewrite>> replacements = findReplacements(*side, *run, *kept);
      if (!replacements)
        return replacements.takeError();
      for (std::set<Rewrite> *both : {&keptA, &keptB})
        both->insert(replacements->begin(), replacements->end());
    }
    if (llvm::Error error = runBases(keptA, keptB).moveInto(bases.get()))
      return error;
    if (!*bases)
      return llvm::Error::success();
  }
  const auto &[baseA, baseB] = **bases;
  Expected<std::vector<ResultDiff>> between = compareRuns(baseA.results, baseB.results, bound);
  if (!between)
    return between.takeError();
  if (!between->empty()) { // what both sides do is the cause; rewrites of one side would hide it
    cause.restrictions = {{a->name, keptA}, {b->name, keptB}};
    return llvm::Error::success();
  }
  std::vector<Cause> found;
  for (const Part &part :
       {Part{*b, runB, runA, baseA, keptB, keptA}, Part{*a, runA, runB, baseB, keptA, keptB}})
    if (llvm::Error error = explainPart(part, cause, found))
      return error;
  if (found.empty())
    return llvm::Error::success();
  if (found.size() > 1)
    for (Cause &one : found)
      one.othersRemain = true;
  cause = std::move(found.front());
  cause.others.assign(std::make_move_iterator(found.begin() + 1), std::make_move_iterator(found.end()));
  return llvm::Error::success();
}

Expected<Cause> CauseSearch::find(const Side &sideA, const Side &sideB) {
  a = &sideA;
  b = &sideB;
  Cause cause;
  if (llvm::Error error = process.run(*a).moveInto(runA))
    return std::move(error);
  if (llvm::Error error = process.run(*b).moveInto(runB))
    return std::move(error);
  if (llvm::Error error =
          compareRuns(runA.results, runB.results, bound, &cause.relBlind).moveInto(cause.differences))
    return std::move(error);
  if (cause.differences.empty())
    return cause;
  cause.kind = CauseKind::Elsewhere;
  for (const Direction &direction : {Direction{*b, runA, candidatesOf(runB.rewrites, runA.rewrites)},
                                     Direction{*a, runB, candidatesOf(runA.rewrites, runB.rewrites)}}) {
    if (direction.candidates.empty())
      continue;
    Expected<Differences> without = compareWith(direction.base, direction.varied, direction.base.rewrites);
    if (!without)
      return without.takeError();
    if (!*without)
      needed.push_back(direction);
    else if (!differ(*without))
      return explain(direction, std::move(cause));
    else if (direction.candidates.front().permission != "none" && cause.restrictions.empty())
      // Both sides: a part of the program would get rewrites that only the free side may apply.
      cause.restrictions = {{a->name, direction.base.rewrites}, {b->name, direction.base.rewrites}};
  }
  if (llvm::Error error = explainSides(cause))
    return std::move(error);
  return cause;
}

llvm::Error CauseSearch::findOthers(Cause &cause) {
  if (needed.empty())
    return findShared(cause, /*locations=*/nullptr, "");
  return explain(needed.front(), std::move(cause)).moveInto(cause);
}
