// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions along the axis that is contiguous in memory, in blocks of steps and lines.

#ifndef ADJOINT_LIB_CODEGEN_CPU_BLOCKEDSCAN_H
#define ADJOINT_LIB_CODEGEN_CPU_BLOCKEDSCAN_H

#include "CPUComponent.h"

namespace mlir::ad::cpu {

class BlockedScan : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// Emits whole blocks of steps, and sets the step and the accumulator that follow them.
  LogicalResult emitBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                           Value &step, Value &accumulator);

private:
  std::optional<unsigned> scannedLineDim(linalg::GenericOp scan, ArrayRef<Index> loops);
  FailureOr<Value> scanBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                              unsigned line, Value end, Value start);
  LogicalResult scanBlock(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                          ArrayRef<Value> lines, unsigned line, Value &carried);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_BLOCKEDSCAN_H
