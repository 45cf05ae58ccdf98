// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operations must compute in f32 so that a program in mixed precision keeps a bound. Internal to the
// tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PRECISIONSEARCH_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PRECISIONSEARCH_H

#include "../Commands.h"
#include "adjoint/Diff/MinimalSet.h"
#include "adjoint/Numerics/PrecisionPolicy.h"
#include "adjoint/Runner/ProgramRun.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ad::diff {

/// A result of the program, compared with the same result in f32.
struct PrecisionDiff {
  std::string name;
  MaxDiff diff;
};

class PrecisionSearch {
public:
  explicit PrecisionSearch(const DiffOptions &options);

  /// Parses the program, finds the operations that the policy casts and runs the program in f32.
  llvm::Error prepare();
  /// Finds the operations. Without a set, the bound does not hold even if all compute in f32.
  llvm::Expected<std::optional<ChangeSet>> find();
  /// The program with the rules and the policy, as a text.
  std::string annotate(const ChangeSet &kept);
  /// Runs a text that has the policy, and compares its results.
  llvm::Expected<bool> keepsBound(const std::string &text);

  llvm::ArrayRef<Operation *> getCandidates() const { return candidates; }
  /// Of the last run.
  llvm::ArrayRef<PrecisionDiff> getDiffs() const { return diffs; }
  size_t getExecutions() const { return executions; }

private:
  llvm::Error parse();
  llvm::Error findCandidates();
  /// The rule of the policy for an operation of f32 that may compute in the narrow type.
  std::optional<numerics::PrecisionRule> castingRule(Operation *op) const;
  llvm::Expected<runner::RunValues> run(const std::string &text, llvm::StringRef policy);

  const DiffOptions &options;
  numerics::PrecisionPolicy policy;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::vector<Operation *> candidates;
  runner::RunValues expected; ///< in f32
  std::vector<PrecisionDiff> diffs;
  size_t executions = 0;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PRECISIONSEARCH_H
