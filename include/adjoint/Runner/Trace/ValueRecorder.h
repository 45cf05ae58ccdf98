// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Records of the values that the reference interpreter computes.
#ifndef ADJOINT_RUNNER_TRACE_VALUERECORDER_H
#define ADJOINT_RUNNER_TRACE_VALUERECORDER_H

#include "adjoint/Diff/Record.h"
#include "adjoint/Reference/Observer.h"
#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Runner/IO/RunValues.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ad::runner {

/// The name that a result of `op` has in the text of the program, with its `%`; else the location of `op`.
std::string valueName(Operation *op, unsigned result, llvm::StringRef source);

/// Makes a record for each result of each operation that runs, in each iteration of loops. Constants count
/// once. The values of a feed after the first one are NAME[1], NAME[2], …. Sizes, which have type index, and
/// results of loops, branches and calls, which are those of operations in them, have no records.
class ValueRecorder : public reference::Observer {
public:
  /// `source` is the text of the program.
  explicit ValueRecorder(llvm::StringRef source) : source(source) {}

  int32_t ran(Operation *op, ArrayRef<reference::Tensor> operands,
              ArrayRef<reference::Tensor> results) override;

  /// Constants, arguments, what ran, and results. Called once, after the run.
  std::vector<diff::Record> takeRecords(const Signature &signature, llvm::ArrayRef<Tensor> arguments,
                                        const RunValues &values);

private:
  diff::Record recordResult(Operation *op, unsigned result, const reference::Tensor &value);

  llvm::StringRef source;
  llvm::StringMap<unsigned> feedCounts;
  std::vector<diff::Record> constants, computed;
  llvm::DenseSet<Operation *> seenConstants;
};

/// A record of kind NODE for each operation of `module`, which does not run.
std::vector<diff::Record> recordNodes(ModuleOp module, llvm::StringRef source);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_VALUERECORDER_H
