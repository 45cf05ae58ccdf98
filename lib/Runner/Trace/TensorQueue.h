// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors on disk: the results of fusions in the order in which a compiled program sends them, the values of
// a feed. Internal to traces.
#ifndef ADJOINT_LIB_RUNNER_TRACE_TENSORQUEUE_H
#define ADJOINT_LIB_RUNNER_TRACE_TENSORQUEUE_H

#include "adjoint/Reference/Tensor.h"
#include "llvm/Support/Error.h"

#include <cstdio>
#include <optional>
#include <string>

namespace mlir::ad::runner {

/// A queue of tensors in a file without a name, which ends with the process.
class TensorQueue {
public:
  TensorQueue() = default;
  ~TensorQueue();
  TensorQueue(const TensorQueue &) = delete;
  TensorQueue &operator=(const TensorQueue &) = delete;

  /// Makes the file in `folder`.
  llvm::Error open(llvm::StringRef folder);
  llvm::Error push(const adrt_tensor &tensor);
  /// From now on, `pop` reads from the begin.
  llvm::Error rewind();
  /// Nothing once all tensors have been read.
  std::optional<reference::Tensor> pop();

private:
  std::string folder;
  std::FILE *file = nullptr;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TRACE_TENSORQUEUE_H
