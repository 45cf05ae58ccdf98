// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions along rows and columns.

#ifndef ADJOINT_LIB_CODEGEN_CPU_SCANEMITTER_H
#define ADJOINT_LIB_CODEGEN_CPU_SCANEMITTER_H

#include "KernelComponent.h"

namespace mlir::ad::cpu {

class ScanEmitter : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  LogicalResult emitScan(linalg::GenericOp scan, const Nest &lines, const Buffer &destination);
  Nest nestOverLines(linalg::GenericOp scan);
  SmallVector<UnitLoop> loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfLines);

private:
  FailureOr<Value> scanSteps(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                             Value from, Value start);
  std::optional<unsigned> scannedLineDim(linalg::GenericOp scan, ArrayRef<Index> loops);
  FailureOr<Value> scanBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                              unsigned line, Value end, Value start);
  LogicalResult scanBlock(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                          ArrayRef<Value> lines, unsigned line, Value &carried);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_SCANEMITTER_H
