// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stores of a kernel's results, and their common iteration spaces.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_KERNELOUTPUTS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_KERNELOUTPUTS_H

#include "../KernelComponent.h"
#include "../Values/ValueSource.h"
#include "ElementStores.h"

namespace mlir::ad::codegen {

class KernelOutputs : public KernelComponent {
public:
  KernelOutputs(KernelContext &context, ValueSource &values, ElementStores &stores)
      : KernelComponent(context), values(values), stores(stores) {}

  bool isFlat(Value output, function_ref<bool(linalg::GenericOp)> isOfKind);
  std::optional<unsigned> rowSpaceOf(ValueRange outputs);
  Nest nestOver(const Buffer &buffer, ValueRange outputs);
  RowOutputs splitByRow(ValueRange outputs, ArrayRef<int64_t> space);
  LogicalResult storeOutputs(ValueRange outputs, ArrayRef<Buffer> buffers, ArrayRef<Position> positions);
  LogicalResult storePerRow(ArrayRef<Value> outputs, ArrayRef<Buffer> destinations, ArrayRef<Position> rows);

private:
  ValueSource &values;
  ElementStores &stores;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_KERNELOUTPUTS_H
