// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stores of a kernel's results: the iteration spaces that they share, and the statements of results that have
// none in common with others, such as slices that are inserted one after another.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELOUTPUTS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELOUTPUTS_H

#include "KernelComponent.h"

namespace mlir::ad::codegen {

class KernelOutputs : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  /// Stores the elements of one result that lie in the range.
  LogicalResult emitRange(Value root, const Buffer &destination, const AxisRange &range);
  Value numberOf(OpFoldResult number);
  bool isFlat(Value root, function_ref<bool(linalg::GenericOp)> isOfKind);
  std::optional<unsigned> rowSpaceOf(ValueRange roots);
  Nest nestOver(const Buffer &buffer, ValueRange roots);
  RowRoots splitByRow(ValueRange roots, ArrayRef<int64_t> space);
  LogicalResult storeRoots(ValueRange roots, ArrayRef<Buffer> buffers, ArrayRef<Position> positions);
  LogicalResult storePerRow(ArrayRef<Value> roots, ArrayRef<Buffer> destinations, ArrayRef<Position> rows);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELOUTPUTS_H
