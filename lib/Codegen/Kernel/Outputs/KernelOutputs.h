// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stores of a kernel's results: their common iteration spaces, and the statements of results that have
// none in common with others, such as slices that are inserted one after another.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_KERNELOUTPUTS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_KERNELOUTPUTS_H

#include "../KernelComponent.h"

namespace mlir::ad::codegen {

class KernelOutputs : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  /// Stores the elements of one result that are in the range.
  LogicalResult emitRange(Value output, const Buffer &destination, const AxisRange &range);
  Value numberOf(OpFoldResult number);
  bool isFlat(Value output, function_ref<bool(linalg::GenericOp)> isOfKind);
  std::optional<unsigned> rowSpaceOf(ValueRange outputs);
  Nest nestOver(const Buffer &buffer, ValueRange outputs);
  RowOutputs splitByRow(ValueRange outputs, ArrayRef<int64_t> space);
  LogicalResult storeOutputs(ValueRange outputs, ArrayRef<Buffer> buffers, ArrayRef<Position> positions);
  LogicalResult storePerRow(ArrayRef<Value> outputs, ArrayRef<Buffer> destinations, ArrayRef<Position> rows);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_KERNELOUTPUTS_H
