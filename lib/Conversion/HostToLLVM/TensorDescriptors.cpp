// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Descriptions of tensors on the stack of the entry.

#include "TensorDescriptors.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "adjoint/Runtime/adrt.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

int32_t TensorDescriptors::elementNumber(Type element) {
  return static_cast<int32_t>(*numerics::elementTypeOf(element));
}

Value TensorDescriptors::shapeArray(const HostTensor &tensor) {
  Value shape = entry.stackSlot(builder.getI64Type(), tensor.type.getRank());
  for (auto [axis, size] : llvm::enumerate(tensor.sizes)) {
    Value address = entry.elementAddress(builder.getI64Type(), shape, axis);
    LLVM::StoreOp::create(builder, loc, toI64(size), address);
  }
  return shape;
}

void TensorDescriptors::describeInto(Value slot, const HostTensor &tensor) {
  Value fields[] = {tensor.pointer, shapeArray(tensor), i32(tensor.type.getRank()),
                    i32(elementNumber(tensor.type.getElementType())),
                    i32(options.device ? ADRT_DEVICE_MEMORY : ADRT_HOST_MEMORY)};
  for (auto [i, value] : llvm::enumerate(fields))
    LLVM::StoreOp::create(builder, loc, value, entry.fieldAddress(entry.tensorType, slot, i));
}

Value TensorDescriptors::describe(ArrayRef<HostTensor> tensors) {
  Value array = entry.stackSlot(entry.tensorType, tensors.size());
  for (auto [i, tensor] : llvm::enumerate(tensors))
    describeInto(entry.elementAddress(entry.tensorType, array, i), tensor);
  return array;
}
