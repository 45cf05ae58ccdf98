// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory plan of a host program for its lowering: the only file of this folder that reads the attributes of the
// plan. A plan may come from a file, so it is verified before anything uses it.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_PLANREADER_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_PLANREADER_H

#include "adjoint/Transforms/MemoryPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad::host {

class PlanReader {
public:
  /// None if the function has no plan.
  static std::optional<PlanReader> read(func::FuncOp function);
  /// Fails with a diagnostic if tensors of an operation have no buffer.
  LogicalResult verify(Operation *op) const;

  /// Buffers of the results of an operation; -1 for values that are no tensors.
  int64_t bufferOf(Operation *op, unsigned result) const;
  int64_t bufferOf(OpResult result) const { return bufferOf(result.getOwner(), result.getResultNumber()); }
  /// Buffers of the arguments of a loop's condition.
  ArrayRef<int64_t> conditionBuffers(scf::WhileOp loop) const;
  /// A temporary buffer for each value that a loop yields, or -1.
  ArrayRef<int64_t> swapBuffers(scf::ForOp loop) const;

  ArrayRef<PlannedPlace> buffers() const { return plan.places; }
  const PlannedPlace &operator[](int64_t buffer) const { return plan.places[buffer]; }
  /// Bytes of the arena, and bytes per element of the other pools.
  ArrayRef<int64_t> pools() const { return plan.pools; }
  /// The operation that writes the largest of the matching buffers; null if there is none.
  Operation *largestUser(func::FuncOp function, function_ref<bool(const PlannedPlace &)> matches) const;

private:
  bool hasBuffers(Operation *op, StringRef name, ValueRange values, bool optional = false) const;

  MemoryPlan plan;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_PLANREADER_H
