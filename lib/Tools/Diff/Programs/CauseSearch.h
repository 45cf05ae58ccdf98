// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the rewrites that cause a difference of two configurations. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_CAUSESEARCH_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_CAUSESEARCH_H

#include "RunnerProcess.h"
#include "adjoint/Diff/MinimalSet.h"

namespace mlir::ad::diff {

enum class CauseKind {
  None,     ///< the results are equal
  Rewrites, ///< rewrites that one side applies and the other one does not
  Shared,   ///< rewrites that both sides apply, with other results
  Elsewhere ///< the results differ without the rewrites of one side, too
};

struct Cause {
  CauseKind kind = CauseKind::None;
  std::vector<ResultDiff> differences; ///< of the results of A and B
  std::vector<std::string> relBlind;   ///< results about which `rel` says nothing
  /// The side that applies the rewrites, A or B, and how many it applies that the other one does not, whether
  /// or not they were tried. Of shared ones, no side, and how many have their name and permission.
  std::string side;
  size_t candidates = 0;
  std::vector<Rewrite> rewrites;
  std::set<Rewrite> allowed; ///< the found ones and those that both sides apply
  /// The only rewrites of the other side in the proof; none: it applies all of its rewrites.
  std::optional<std::set<Rewrite>> base;
  /// The differences when the side applies the found rewrites and none of the other candidates.
  std::vector<ResultDiff> alone;
  bool aloneCompiles = false; ///< whether the program compiles then
  /// Shared ones without which the program does not compile, among those that were tried.
  std::vector<Rewrite> required;
  /// By side: with these rewrites alone the results differ, too. Of the kind Elsewhere.
  std::map<std::string, std::set<Rewrite>> restrictions;
  /// Rewrites of the other side that make a difference, too.
  std::vector<Cause> others;
  /// Whether the results still differ if only the found ones are left out, and whether no program compiles
  /// then.
  bool othersRemain = false, neededToCompile = false;
};

class CauseSearch {
public:
  CauseSearch(RunnerProcess &process, std::optional<Bound> bound, std::function<void(unsigned)> progress)
      : process(process), bound(std::move(bound)), progress(std::move(progress)) {}

  /// The sides must live as long as the search.
  llvm::Expected<Cause> find(const Side &a, const Side &b);
  /// Rewrites that both sides apply, at these locations or, if null, at any. To be called after `find` has
  /// found nothing; if one is the cause, `cause` gets the kind Shared. `changedSide` is the side that
  /// computes other values than before, A or B, or any other text.
  llvm::Error findShared(Cause &cause, const std::set<std::string> *locations, llvm::StringRef changedSide);
  /// The same for rewrites without which no program compiles, or, if there are none, shared ones anywhere.
  llvm::Error findOthers(Cause &cause);

private:
  using Run = RunnerProcess::Run;
  /// Null if the program does not compile with the rewrites of the trial.
  using Differences = std::optional<std::vector<ResultDiff>>;
  /// How the results differ if no other rewrites are allowed.
  using Trial = std::function<llvm::Expected<Differences>(const std::set<Rewrite> &)>;
  /// Rewrites that one side applies and the other one does not.
  struct Direction {
    const Side &varied;
    const Run &base;
    std::vector<Rewrite> candidates;
  };

  llvm::Expected<Cause> explain(const Direction &direction, Cause cause);
  /// Rewrites of one side or of both, where the results of both are equal without them all.
  llvm::Error explainSides(Cause &cause);
  llvm::Error explainSides(std::set<Rewrite> keptA, std::set<Rewrite> keptB, Cause &cause);
  /// The runs of both sides with these rewrites alone; none where a side does not compile.
  llvm::Expected<std::optional<std::pair<Run, Run>>> runBases(const std::set<Rewrite> &keptA,
                                                              const std::set<Rewrite> &keptB);
  /// Rewrites that keep all bits and that a side applies only where it may not apply the rewrites that are
  /// not kept, such as the decomposition of an operation in place of a named kernel. None if it does not
  /// compile.
  llvm::Expected<std::set<Rewrite>> findReplacements(const Side &side, const Run &run,
                                                     const std::set<Rewrite> &kept);
  /// A side whose rewrites are searched although the other side has some, too. `base` is a run of the other
  /// side that applies only the rewrites `keptByOther`.
  struct Part {
    const Side &side;
    const Run &run, &other, &base;
    const std::set<Rewrite> &kept, &keptByOther;
  };
  /// Adds the rewrites of the part that change the results, if there are any.
  llvm::Error explainPart(const Part &part, const Cause &whole, std::vector<Cause> &found);
  /// `group` are all of a name, `candidates` those at the wanted locations.
  llvm::Error findSharedIn(const std::vector<Rewrite> &group, const std::vector<Rewrite> &candidates,
                           const Trial &trial, Cause &cause);
  /// Searches the minimal set of candidates that differs together with the background, and proves it.
  /// The second part of the proof leaves the found ones out of `all`.
  llvm::Error findAmong(const std::vector<Rewrite> &candidates, const std::set<Rewrite> &background,
                        const std::set<Rewrite> &all, const Trial &trial, Cause &cause);
  /// The same trial, which runs each set once.
  static Trial remembering(Trial trial);
  llvm::Expected<Run> run(const Side &side, const std::set<Rewrite> &only);
  llvm::Expected<Differences> compareWith(const Run &base, const Side &side, const std::set<Rewrite> &only);
  llvm::Expected<Differences> compareBoth(const Side &a, const Side &b, const std::set<Rewrite> &only);

  RunnerProcess &process;
  std::optional<Bound> bound;
  std::function<void(unsigned)> progress;
  const Side *a = nullptr, *b = nullptr;
  Run runA, runB;
  std::vector<Direction> needed; // no program compiles without their candidates
};

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_CAUSESEARCH_H
