// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the smallest part of a program whose results differ between two configurations. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_REDUCESEARCH_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_REDUCESEARCH_H

#include "../RunnerProcess.h"
#include "../StageSearch.h"
#include "ProgramSlice.h"
#include "adjoint/Diff/MinimalSet.h"
#include "adjoint/Runner/ProgramRun.h"

#include <chrono>
#include <map>

namespace mlir::ad::diff {

enum class ReductionKind {
  None,       ///< the results are equal
  Earlier,    ///< the differentiated program gives equal results, and so do derivatives of single operations
  Found,      ///< the operations differ
  Derivative, ///< the derivative of the operation differs, the operation itself does not
  Alone,      ///< of a short search: the operation differs by itself
  Unknown,    ///< a short search found no single operation
  WrongPlan,  ///< the memory plan of one side is wrong, which no part of the program shows
  InProgram   ///< the operation computes the first value that differs, and does not differ by itself
};

struct Reduction {
  struct Operation {
    std::string name, location;
    std::string role; ///< of those of the whole program
  };
  ReductionKind kind = ReductionKind::None;
  std::vector<ResultDiff> differences; ///< of the whole program
  std::vector<std::string> relBlind;   ///< results of the whole program about which `rel` says nothing
  std::vector<ResultDiff> reduced;     ///< of the reduced program
  bool ended = false;                  ///< the time was over: fewer operations may differ
  bool isShort = false;                ///< one operation differs by itself, or two
  std::vector<Operation> operations;   ///< of the reduced program, without constants
  std::vector<Operation> whole;    ///< of the whole program: those of a wrong plan, or the first that differs
  std::string message;             ///< what is wrong with the plan
  std::vector<std::string> inside; ///< the loops and branches around them, the outermost first
  size_t units = 0;                ///< how many operations the differentiated entry has
  std::optional<StageFinding> stage; ///< where the reduced program begins to differ
  std::string noStage;               ///< why that is not known
  unsigned failures = 0;             ///< parts of the program that a configuration could not compile or run

  /// The largest l2 of a result of the program, divided by that of the reduced one; none if one of them is
  /// not positive and finite.
  std::optional<double> amplification() const;
};

/// What a caller knows of the difference.
struct ReduceHints {
  std::optional<std::vector<ResultDiff>> differences; ///< of the whole program
  std::set<std::string> locations;                    ///< where the cause is
  bool brief = false;                                 ///< only single operations, at these locations
  bool plans = false; ///< only the memory plans, and with an output a program if one of them is wrong
  /// Called if no operation differs by itself. If it returns true, the search ends.
  std::function<llvm::Expected<bool>()> beforeLongSearch;
};

class ReduceSearch {
public:
  ReduceSearch(const DiffOptions &options, Configuration a, Configuration b,
               std::function<void(unsigned)> progress);
  ~ReduceSearch();

  /// With `output`, writes the reduced program there, which must be an empty folder or none.
  llvm::Expected<Reduction> find(llvm::StringRef output, ReduceHints hints = {});
  unsigned getExecutions() const { return executions; }

private:
  using Differences = std::vector<ResultDiff>;
  struct Level; // a block, with the values of one of its executions
  using SliceMaker = std::function<ProgramSlice(func::FuncOp, ArrayRef<OperationGroup>, const BlockValues &)>;

  llvm::Error load();
  llvm::Expected<Level> record(Block *block, Occasion occasion);
  llvm::Expected<Differences> compare(const TemporaryFolder &folder, const std::string &program,
                                      std::vector<std::string> inputs,
                                      std::vector<std::string> *relBlind = nullptr);
  llvm::Error compareWhole(ReduceHints &hints);
  /// Writes the slice into `folder` as if that were `path`, and returns the options that run it.
  llvm::Expected<std::vector<std::string>> write(ProgramSlice &slice, const TemporaryFolder &folder,
                                                 llvm::StringRef path);
  /// The slice in a folder that is removed afterwards, and the options that run it.
  struct SliceFiles {
    TemporaryFolder folder;
    std::vector<std::string> inputs;
  };
  llvm::Expected<SliceFiles> writeTemporary(ProgramSlice &slice);
  llvm::Expected<Differences> compareSlice(ProgramSlice slice);
  llvm::Expected<bool> differs(Level &level, const ChangeSet &units);
  /// The smallest set that differs; empty if all operations together do not.
  llvm::Expected<ChangeSet> minimize(Level &level);
  /// Those of these units that differ alone, or, for the size 2, with one of their producers.
  llvm::Expected<std::map<ChangeSet, Differences>> findFew(const Level &level, const ChangeSet &among,
                                                           unsigned size);
  /// The first such set of all units that differs also when it is extracted as a program of its own.
  llvm::Expected<ChangeSet> findFewProved(Level &level, unsigned size);
  llvm::Expected<ChangeSet> minimizeAll(Level &level);
  /// Whether a long search ends now.
  bool isTimeOver();
  /// The first part of the program that differs, from the most likely kind to the least likely one.
  llvm::Expected<ChangeSet> search(Level &level, const ReduceHints &hints, llvm::StringRef output);
  llvm::Error report(Level &level, ChangeSet units, llvm::StringRef output);
  llvm::Expected<bool> descend(Level &level, ChangeSet &units);
  llvm::Error finish(ProgramSlice slice, llvm::StringRef output);
  llvm::Error publish(ProgramSlice &slice, llvm::StringRef output);

  // In ReduceAlone.cpp: operations that differ by themselves.

  /// The groups of units that differ in a program of all of them side by side. Where that program fails, its
  /// halves count.
  llvm::Expected<std::map<ChangeSet, Differences>>
  findAlone(const Level &level, const std::vector<ChangeSet> &groups, const SliceMaker &make);
  llvm::Error findBriefly(Level &level, const ReduceHints &hints);
  llvm::Error findDerivative(llvm::StringRef output);
  llvm::Expected<bool> findDerivativeIn(Block &block, std::set<std::string> &seen, llvm::StringRef output);

  // In ReduceWhole.cpp: the memory plan and traces of the whole program.

  /// The first operation of the differentiated program at that place, which has no folder.
  Reduction::Operation operationAt(llvm::StringRef place, llvm::StringRef role);
  llvm::Error traceWhole();
  /// Whether the memory plan of one side is the reason.
  llvm::Expected<bool> findPlanFault();
  /// Whether traces show a first value that differs.
  llvm::Expected<bool> findFirstValue();
  /// Whether the search ends with what the caller knows, or with the first value.
  llvm::Expected<bool> explain(const ReduceHints &hints, bool wholeDiffers, llvm::StringRef output);

  const DiffOptions &options;
  Configuration a, b;
  std::function<void(unsigned)> progress;
  std::unique_ptr<runner::ProgramRun> program;
  OwningOpRef<ModuleOp> source; // differentiated and inlined
  func::FuncOp entry;
  std::set<std::string> differentiated; // names and locations of operations that were differentiated
  Reduction reduction;
  std::optional<TemporaryFolder> wholeFolder;
  std::optional<TracedRuns> whole; // none if they do not differ, or if `notTraced` says why there are none
  std::string notTraced;
  unsigned executions = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// The lines about the reduced program.
std::string describe(const Reduction &reduction, const std::optional<Bound> &bound);
/// That A and B do not differ, or not by more than a bound.
std::string noDifference(const std::optional<Bound> &bound);
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

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_REDUCESEARCH_H
