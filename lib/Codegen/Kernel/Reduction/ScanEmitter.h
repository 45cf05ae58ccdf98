// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions (cumsum) along any axis.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H

#include "../Outputs/ElementStores.h"
#include "../Values/AccessMaps.h"
#include "ReductionLoops.h"

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
  ScanEmitter(KernelContext &context, ValueSource &values, LaneValues &laneValues, AccessMaps &maps,
              KernelArguments &arguments, ReductionLoops &loops, ElementStores &stores)
      : KernelComponent(context), values(values), laneValues(laneValues), maps(maps), arguments(arguments),
        reductionLoops(loops), stores(stores) {}
  virtual ~ScanEmitter() = default;

  /// The nest over the axes that are not scanned: it has a chain at each position.
  Nest nestOverChains(linalg::GenericOp scan);
  SmallVector<UnitLoop> loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfChains);
  /// The chains at the positions, with a store of each step.
  LogicalResult emitChains(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Position> positions);

protected:
  /// Emits steps of a running reduction from the first one on, and sets the step and the accumulator that
  /// follow them.
  virtual LogicalResult scanBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                   Value &step, Value &accumulator) {
    return success();
  }

  ValueSource &values;
  LaneValues &laneValues;
  AccessMaps &maps;
  KernelArguments &arguments;
  ReductionLoops &reductionLoops;
  ElementStores &stores;

private:
  FailureOr<Value> scanSteps(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                             Value from, Value start);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H
