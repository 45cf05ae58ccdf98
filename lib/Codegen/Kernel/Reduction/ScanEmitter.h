// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions (cumsum) along any axis.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H

#include "../KernelComponent.h"

namespace mlir::ad::codegen {

/// The running reduction that the value is the result of, which stores the accumulator of each step; else
/// null.
linalg::GenericOp scanOf(Value output);

/// The loop of a running reduction.
unsigned scannedDim(linalg::GenericOp scan);

/// From the loops of a running reduction to the axes of its result.
AffineMap stepMapOf(linalg::GenericOp scan);

class ScanEmitter : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  LogicalResult emitScan(linalg::GenericOp scan, const Nest &chains, const Buffer &destination);
  /// The nest over the axes that are not scanned: it has a chain at each position.
  Nest nestOverChains(linalg::GenericOp scan);
  SmallVector<UnitLoop> loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfChains);

private:
  FailureOr<Value> scanSteps(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                             Value from, Value start);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H
