// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs operations that belong to no program, on values that a caller gives.
#ifndef ADJOINT_REFERENCE_BLOCKRUNNER_H
#define ADJOINT_REFERENCE_BLOCKRUNNER_H

#include "adjoint/Reference/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::ad::reference {

class BlockRunner {
public:
  /// Functions that operations call are those of `module`.
  explicit BlockRunner(ModuleOp module);
  ~BlockRunner();

  /// Runs `block` with the given arguments, and returns what its terminator yields. Fails with the reason if
  /// an operation has no semantics, or fails at run time.
  FailureOr<SmallVector<Tensor>> run(Block &block, ArrayRef<Tensor> arguments, std::string &reason);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mlir::ad::reference

#endif // ADJOINT_REFERENCE_BLOCKRUNNER_H
