// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs of ad-runner as processes of their own: with other options, environments and builds, without effect on
// each other, and without harm if one crashes. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_RUNNERPROCESS_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_RUNNERPROCESS_H

#include "../Options.h"
#include "TemporaryFolder.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Diff/MaxDiff.h"

#include <set>

namespace mlir::ad::diff {

/// One of the two configurations that are compared.
struct Side {
  std::string name;                     ///< A or B, for messages
  std::string text;                     ///< as it was given
  std::string runner;                   ///< the program ad-runner
  std::vector<std::string> environment; ///< NAME=VALUE, before the options
  std::vector<std::string> options;
};

/// A side, and the only rewrites that it may apply.
struct Configuration {
  Side side;
  std::optional<std::set<Rewrite>> only;
};

/// Reads `text`, words as in a shell: assignments of the environment, then options of ad-runner. Options that
/// the search needs itself are refused. `runner` is another build of ad-runner; if empty, the one next to
/// this tool.
llvm::Expected<Side> parseSide(llvm::StringRef name, llvm::StringRef text, llvm::StringRef runner);

/// The options, for a text.
std::string textOf(const Side &side);
/// An error if a side has inputs of its own, which must be those of both.
llvm::Error checkSharedInputs(const Side &a, const Side &b);
/// Whether the option names inputs or the function that takes them.
bool isInputOption(llvm::StringRef option);

/// A result of a program under two configurations.
struct ResultDiff {
  std::string name;
  MaxDiff diff;
  bool onlyZeroSigns = false; ///< some zeros differ in their signs, and nothing else differs
};

class RunnerProcess {
public:
  /// `program` is a file; `inputs` are the options that both sides share.
  RunnerProcess(const TemporaryFolder &folder, std::string program, std::vector<std::string> inputs)
      : folder(folder), program(std::move(program)), inputs(std::move(inputs)) {}

  struct Run {
    std::string results;        ///< a folder with a .npy file for each result
    std::set<Rewrite> rewrites; ///< that were applied
    std::string trace;          ///< a folder, of a traced run
    std::string plan;           ///< the program with its memory plan, of a planned run
    std::string failure;        ///< the message if there are neither results nor rewrites
  };

  /// Runs the program. A run that fails is an error with the side and the messages of ad-runner. With `only`,
  /// no other rewrites are applied; such a run may fail, since some programs do not compile without them.
  llvm::Expected<Run> run(const Side &side, const std::set<Rewrite> *only = nullptr);
  /// The same with all rewrites but these; it may fail, too.
  llvm::Expected<Run> runExcept(const Side &side, const std::set<Rewrite> &leftOut);
  /// The same with a trace, which is the folder `trace` of the result.
  llvm::Expected<Run> runTraced(const Side &side, const std::set<Rewrite> *only = nullptr);
  /// The same with the memory plan. It may fail, since not all targets and builds can write it.
  llvm::Expected<Run> runPlanned(const Side &side, const std::set<Rewrite> *only = nullptr);
  unsigned getCount() const { return count; }

private:
  enum class Kind { Plain, Except, Traced, Planned };
  llvm::Expected<Run> run(const Side &side, const std::set<Rewrite> *listed, Kind kind);
  /// Executes the command line, and reads the list of rewrites that it has written.
  llvm::Error finish(const Side &side, bool mayFail, const std::vector<std::string> &words, Run &result);

  const TemporaryFolder &folder;
  std::string program;
  std::vector<std::string> inputs;
  unsigned count = 0;
};

/// The results that differ by more than the bound, or, without one, in a bit. `relBlind` gets the results
/// about which `rel` says nothing.
llvm::Expected<std::vector<ResultDiff>> compareRuns(llvm::StringRef expected, llvm::StringRef got,
                                                    const std::optional<Bound> &bound,
                                                    std::vector<std::string> *relBlind = nullptr);

/// The value of the environment.
std::vector<std::string> environmentWith(llvm::ArrayRef<std::string> assignments);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_RUNNERPROCESS_H
