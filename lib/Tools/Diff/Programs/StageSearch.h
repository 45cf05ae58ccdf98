// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass after which a program differs between two configurations. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_STAGESEARCH_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_STAGESEARCH_H

#include "RunnerProcess.h"

#include <map>

namespace mlir::ad::diff {

struct StageFinding {
  std::string stage;                ///< of the compiler, in words
  std::string pass;                 ///< empty if only the generated code differs in many places
  std::vector<std::string> kernels; ///< of the program
  /// Where values change, A, B or both: from what they were before the pass, or, of generated code, from
  /// those of the reference interpreter. Empty if that is not known.
  std::string side;
};

/// The stage of a pass; empty if there is no pass.
std::string stageOf(llvm::StringRef pass);
/// `stage: fusion, pass ad-fuse`.
std::string stageText(llvm::StringRef stage, llvm::StringRef pass);

/// A program after a pass, and its operations as a list, in its order.
struct TracedStage {
  std::string pass, text, list;
};

/// The stages of a traced run, in their order.
llvm::Expected<std::vector<TracedStage>> readStages(const std::string &trace);

/// Two traced runs of one program.
struct TracedRuns {
  RunnerProcess::Run a, b;
};

/// Runs both configurations with traces. If one of them cannot, `failure` says why, and there are no runs.
llvm::Expected<std::optional<TracedRuns>> traceRuns(RunnerProcess &process, const Configuration &a,
                                                    const Configuration &b, std::string &failure);

/// Traces have the program after each pass. Programs in the `ad` dialect run on the reference interpreter of
/// this tool. The first pass whose two programs give other values is the one. If there is none, the generated
/// code differs: then it is the first pass with other texts, if all passes before have the same text.
class StageSearch {
public:
  /// The folder is for the values of stages; `programFile` is the file of the runs, `inputs` are their
  /// options.
  StageSearch(const DiffOptions &options, const TemporaryFolder &folder, std::string programFile,
              std::vector<std::string> inputs);

  llvm::Expected<StageFinding> find(const TracedRuns &runs);

private:
  using Stage = TracedStage;
  /// Numbers of the last stages of both sides up to a pass.
  struct Step {
    std::string pass;
    size_t a, b;
  };

  static bool hasPass(const std::vector<Stage> &stages, llvm::StringRef pass);
  static std::vector<Step> align(const std::vector<Stage> &a, const std::vector<Stage> &b);
  /// A folder with the results of the program on the reference interpreter; empty if it cannot run there.
  llvm::Expected<std::string> interpret(const std::string &text);
  llvm::Expected<bool> differ(const std::string &left, const std::string &right) const;
  llvm::Expected<std::optional<StageFinding>> findChangedValues();
  llvm::Expected<StageFinding> findChangedCode(const std::string &resultsA, const std::string &resultsB);
  llvm::Expected<std::string> changedSide(const std::string &beforeA, const std::string &a,
                                          const std::string &beforeB, const std::string &b) const;

  const DiffOptions &options;
  const TemporaryFolder &folder;
  std::string programFile;
  std::vector<std::string> inputs;
  std::vector<Stage> stagesA, stagesB;
  std::vector<Step> steps;
  std::map<std::string, std::string> interpreted; // folders of results by text
};

/// A line about it.
std::string describe(const StageFinding &finding);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_STAGESEARCH_H
