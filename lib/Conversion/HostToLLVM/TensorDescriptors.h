// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Descriptions of tensors for the runtime: `adrt_tensor` has the data, the shape, the rank, the element type
// and the memory space.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_TENSORDESCRIPTORS_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_TENSORDESCRIPTORS_H

#include "HostValues.h"

namespace mlir::ad::host {

class TensorDescriptors : public HostComponent {
public:
  using HostComponent::HostComponent;

  /// Address of an array of adrt_tensor.
  Value describe(ArrayRef<HostTensor> tensors);
  Value shapeArray(const HostTensor &tensor);
  /// As adrt_type numbers it.
  static int32_t elementNumber(Type element);

private:
  void describeInto(Value slot, const HostTensor &tensor);
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_TENSORDESCRIPTORS_H
