// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operations must compute in f32 so that a program in mixed precision keeps a bound.
#ifndef ADJOINT_RUNNER_TRACE_PRECISIONSEARCH_H
#define ADJOINT_RUNNER_TRACE_PRECISIONSEARCH_H

#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Diff/MinimalSet.h"
#include "adjoint/Numerics/PrecisionPolicy.h"
#include "adjoint/Reference/Observer.h"
#include "adjoint/Runner/Compile/Hooks.h"
#include "adjoint/Runner/IO/RunValues.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ad::runner {

/// A run, and its results and received values in f64.
struct ExactValues {
  RunValues actual;
  llvm::SmallVector<reference::Tensor> results, received;
  std::vector<std::string> failures; ///< operations that do not run in f64: their results count as exact
};

/// A program, and what the search is about.
struct PrecisionProblem {
  std::string text, name; ///< the program and the name of its file
  std::string entry;
  std::string policy; ///< bf16, f16, f8 or FILE.yaml
  diff::Bound bound;
  std::string policyOption; ///< what the user calls the policy
  /// Runs a text of the program on the reference interpreter, with a policy in place of the one in the text
  /// unless it is empty.
  std::function<llvm::Expected<RunValues>(const std::string &text, llvm::StringRef policy)> run;
  /// The same with a shadow in f64, from which the bound measures. Null: it measures from the run in f32.
  std::function<llvm::Expected<ExactValues>(const std::string &text, llvm::StringRef policy)> runExact =
      nullptr;
};

/// A result of the program, compared with the same result in f32 or f64.
struct PrecisionDiff {
  std::string name;
  diff::MaxDiff diff;
};

class PrecisionSearch {
public:
  PrecisionSearch(const PrecisionProblem &problem, const Hooks &hooks) : problem(problem), hooks(hooks) {}

  /// Parses the program, finds the operations that the policy casts and runs the program in f32.
  llvm::Error prepare();
  /// Finds the operations. Without a set, the bound does not hold even if all compute in f32.
  llvm::Expected<std::optional<diff::ChangeSet>> find();
  /// The program with the rules and the policy, as a text for the user.
  std::string annotate(const diff::ChangeSet &kept);
  /// The same text with the locations of the source, which errors of a run name.
  std::string annotateForRun(const diff::ChangeSet &kept);
  /// Runs a text that has the policy, and compares its results.
  llvm::Expected<bool> keepsBound(const std::string &text);

  llvm::ArrayRef<Operation *> getCandidates() const { return candidates; }
  /// Of the last run.
  llvm::ArrayRef<PrecisionDiff> getDiffs() const { return diffs; }
  size_t getExecutions() const { return executions; }
  llvm::ArrayRef<std::string> getNotExact() const { return exact.failures; }

private:
  llvm::Error parse();
  llvm::Error findCandidates();
  llvm::Error runExpected();
  void setRules(const diff::ChangeSet &kept);
  /// The rule of the policy for an operation of f32 that may compute in the narrow type.
  std::optional<numerics::PrecisionRule> castingRule(Operation *op) const;
  llvm::Expected<RunValues> run(const std::string &text, llvm::StringRef policy);

  const PrecisionProblem &problem;
  const Hooks &hooks;
  numerics::PrecisionPolicy policy;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::vector<Operation *> candidates;
  ExactValues exact; ///< in f32, and in f64 if the problem says how
  std::vector<PrecisionDiff> diffs;
  size_t executions = 0;
};

/// Searches, and runs the program that was found, whose text becomes `program`; that is empty if the bound
/// does not hold even if all operations compute in f32.
llvm::Expected<diff::DiffReport> findPrecision(const PrecisionProblem &problem, const Hooks &hooks,
                                               std::string &program);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_PRECISIONSEARCH_H
