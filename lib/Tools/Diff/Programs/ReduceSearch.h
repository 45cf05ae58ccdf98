// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the smallest part of a program whose results differ between two configurations. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCESEARCH_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCESEARCH_H

#include "ProgramSlice.h"
#include "RunnerProcess.h"
#include "adjoint/Diff/MinimalSet.h"
#include "adjoint/Runner/ProgramRun.h"

namespace mlir::ad::diff {

/// A configuration, and the only rewrites that it may apply.
struct Configuration {
  Side side;
  std::optional<std::set<Rewrite>> only;
};

enum class ReductionKind {
  None,    ///< the results are equal
  Earlier, ///< the differentiated program gives equal results
  Found
};

struct Reduction {
  struct Operation {
    std::string name, location;
  };
  ReductionKind kind = ReductionKind::None;
  std::vector<ResultDiff> differences; ///< of the whole program
  std::vector<ResultDiff> reduced;     ///< of the reduced program
  std::vector<Operation> operations;   ///< of the reduced program, without constants
  std::vector<std::string> inside;     ///< the loops and branches around them, the outermost first
  size_t units = 0;                    ///< how many operations the differentiated entry has
  unsigned executions = 0;
  unsigned failures = 0; ///< parts of the program that a configuration could not compile or run

  /// The relative difference of the program, divided by that of the reduced one; none if one of them is not
  /// positive and finite.
  std::optional<double> amplification() const;
};

class ReduceSearch {
public:
  ReduceSearch(const DiffOptions &options, Configuration a, Configuration b,
               std::function<void(unsigned)> progress);
  ~ReduceSearch();

  /// With `output`, writes the reduced program there, which must be an empty folder or none.
  llvm::Expected<Reduction> find(llvm::StringRef output);

private:
  using Differences = std::vector<ResultDiff>;
  struct Level; // a block, with the values of one of its executions

  llvm::Error load();
  llvm::Expected<Level> record(Block *block, Occasion occasion);
  llvm::Expected<Differences> compare(const TemporaryFolder &folder, const std::string &program,
                                      std::vector<std::string> inputs);
  /// Writes the slice into `folder` as if that were `path`, and returns the options that run it.
  llvm::Expected<std::vector<std::string>> write(ProgramSlice &slice, const TemporaryFolder &folder,
                                                 llvm::StringRef path);
  llvm::Expected<Differences> compareSlice(const Level &level, const ChangeSet &units);
  /// The smallest set that differs; empty if all operations together do not.
  llvm::Expected<ChangeSet> minimize(const Level &level);
  llvm::Expected<bool> descend(Level &level, ChangeSet &units);
  llvm::Error publish(ProgramSlice slice, llvm::StringRef output);

  const DiffOptions &options;
  Configuration a, b;
  std::function<void(unsigned)> progress;
  std::unique_ptr<runner::ProgramRun> program;
  OwningOpRef<ModuleOp> source; // differentiated and inlined
  func::FuncOp entry;
  Reduction reduction;
};

/// The lines about the reduced program.
std::string describe(const Reduction &reduction);
llvm::json::Object toJSON(const Reduction &reduction);
std::string describe(const std::vector<ResultDiff> &results);
llvm::json::Value toJSON(const std::vector<ResultDiff> &results);

/// An error unless a folder can be made at `path`: nothing is there, or an empty folder.
llvm::Error checkNewFolder(llvm::StringRef path);

/// Shows on a terminal that a search goes on.
class ProgressLine {
public:
  ~ProgressLine();
  void show(unsigned execution);

private:
  bool shown = false;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCESEARCH_H
