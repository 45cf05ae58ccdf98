// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The shadows of tensors, by the memory of their elements: loops, branches, calls and fusions pass tensors
// on, and their shadows with them.
#ifndef ADJOINT_RUNNER_TRACE_SHADOWVALUES_H
#define ADJOINT_RUNNER_TRACE_SHADOWVALUES_H

#include "adjoint/Reference/Tensor.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::ad::runner {

using Tensors = llvm::SmallVector<reference::Tensor, 1>;

class ShadowValues {
public:
  explicit ShadowValues(size_t count) : count(count) {}

  size_t size() const { return count; }
  /// The shadows of a tensor; those of one that no operation computed are its elements in f64.
  Tensors get(const reference::Tensor &tensor) const;
  bool has(const reference::Tensor &tensor) const;
  void set(const reference::Tensor &tensor, Tensors values);

private:
  struct Entry {
    std::weak_ptr<const void> storage; ///< while it is here, no other tensor has the address
    Tensors values;
  };
  void dropDead();

  size_t count, nextSweep = 1024;
  llvm::DenseMap<const void *, Entry> entries;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_SHADOWVALUES_H
