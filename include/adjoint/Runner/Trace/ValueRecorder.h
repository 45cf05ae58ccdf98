// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Records of the values that the reference interpreter computes.
#ifndef ADJOINT_RUNNER_TRACE_VALUERECORDER_H
#define ADJOINT_RUNNER_TRACE_VALUERECORDER_H

#include "adjoint/Diff/Record.h"
#include "adjoint/Reference/Observer.h"
#include "adjoint/Runner/Executable/Signature.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace mlir::ad::runner {

/// The name that a result of `op` has in the text of the program, with its `%`; else the location of `op`.
std::string valueName(Operation *op, unsigned result, llvm::StringRef source);
/// FILE:LINE:COLUMN without the folder of the file, which differs between machines.
std::string shortLocation(Location location);

/// Makes a record for each result of each operation that runs, in each iteration of loops. Constants count
/// once. The values of a feed after the first one are NAME[1], NAME[2], …. Operations of one kind with one
/// name get the names NAME, NAME(2), NAME(3), …. Scalars of type index and i1, and results of loops, branches
/// and calls, which are those of operations in them, have no records.
class ValueRecorder : public reference::Observer {
public:
  /// Writes a tensor to a file, whose name goes into the record; an empty name if the tensor is not kept.
  using KeepTensor = std::function<llvm::Expected<std::string>(const diff::Record &, const adrt_tensor &)>;

  /// `source` is the text of the program. `keep` may be empty.
  explicit ValueRecorder(llvm::StringRef source, KeepTensor keep = nullptr)
      : source(source), keep(std::move(keep)) {}

  int32_t ran(Operation *op, ArrayRef<reference::Tensor> operands,
              ArrayRef<reference::Tensor> results) override;

  /// Values inside of fusions count as recomputed, except those that fusions yield.
  void setRecomputed(bool newRecomputed) { recomputed = newRecomputed; }

  void addArgument(llvm::StringRef name, const adrt_tensor &value);
  void addResult(llvm::StringRef name, const adrt_tensor &value);
  /// Constants, arguments, what ran, and results.
  std::vector<diff::Record> takeRecords();
  /// Why a tensor could not be kept; the run has stopped then.
  llvm::Error takeError();

private:
  /// A value inside of a fusion that is not complete.
  struct Pending {
    Operation *op;
    unsigned result;
    reference::Tensor value;
  };

  void add(std::vector<diff::Record> &list, diff::Record record, const adrt_tensor &value);
  void addOutput(Operation *op, ArrayRef<reference::Tensor> values);
  void addValue(Operation *op, unsigned result, const reference::Tensor &value, bool isRecomputed);
  void addFusion(Operation *fusion, ArrayRef<reference::Tensor> results);
  std::string uniqueName(Operation *op, unsigned result);

  llvm::StringRef source;
  KeepTensor keep;
  bool recomputed = false;
  std::vector<diff::Record> constants, arguments, computed, results;
  std::vector<Pending> pending;
  std::string problem;
  llvm::DenseMap<Operation *, uint64_t> runs;
  llvm::DenseMap<Value, std::string> names;
  llvm::StringMap<unsigned> nameUses, feedCounts;
};

/// A record of kind NODE for each operation of `module`, which does not run.
std::vector<diff::Record> recordNodes(ModuleOp module, llvm::StringRef source);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_VALUERECORDER_H
