// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that fit into the registers of a group or a block: every index is one value in all passes, so that the
// evaluator finds each element that an earlier pass has loaded or computed.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWREGISTERS_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWREGISTERS_H

#include "RowComponent.h"

namespace mlir::ad::device {

class RowDistribution;

class RowRegisters : public RowComponent {
public:
  RowRegisters(RowEmitter &emitter, RowDistribution &distribution)
      : RowComponent(emitter), distribution(distribution) {}

  /// A vector of this thread. The last vectors may be beyond the end of the row.
  struct Vector {
    SmallVector<Value> indices; // clamped to the last elements of the row in that case
    Value present;              // null when the vector always is in the row
  };

  void bind();
  /// Loads the operands of a reduction before the first use, so that the latencies of their loads overlap.
  LogicalResult loadOperands(linalg::GenericOp reduction);
  LogicalResult emitStores(GPUKernelEmitter::StoreAt storeAt);

  SmallVector<Vector> vectors;

private:
  /// Values of a tensor with the rows of the grid, at all vectors.
  LogicalResult evaluateAtVectors(Value tensor);
  LogicalResult loadIfPresent(Value argument, const Vector &vector);
  LogicalResult computeResults();

  RowDistribution &distribution;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWREGISTERS_H
