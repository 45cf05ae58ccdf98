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
  Elsewhere ///< the results differ without such rewrites, too
};

struct Cause {
  CauseKind kind = CauseKind::None;
  std::vector<ResultDiff> differences; ///< of the results of A and B
  /// The side that applies the rewrites, A or B, and how many it applies that the other one does not.
  std::string side;
  size_t candidates = 0;
  std::vector<Rewrite> rewrites;
  std::vector<ResultDiff>
      alone; ///< the results differ so if the side applies no other rewrites of these candidates
  /// Whether the results still differ if only the found ones are left out.
  bool othersRemain = false;
};

class CauseSearch {
public:
  CauseSearch(RunnerProcess &process, std::optional<Bound> bound, std::function<void(unsigned)> progress)
      : process(process), bound(std::move(bound)), progress(std::move(progress)) {}

  llvm::Expected<Cause> find(const Side &a, const Side &b);

private:
  using Differences = std::vector<ResultDiff>;

  /// Whether rewrites of `varied` that `base` does not apply explain the difference.
  llvm::Expected<bool> explain(const RunnerProcess::Run &base, const Side &varied,
                               const RunnerProcess::Run &variedRun, Cause &cause);
  llvm::Expected<Differences> compareWith(const RunnerProcess::Run &base, const Side &side,
                                          const std::set<Rewrite> &only);

  RunnerProcess &process;
  std::optional<Bound> bound;
  std::function<void(unsigned)> progress;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_CAUSESEARCH_H
