// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of whole tensors: between buffers, to and from the memory of a device.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_TENSORCOPIES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_TENSORCOPIES_H

#include "BufferAddresses.h"

namespace mlir::ad::host {

class TensorCopies : public HostComponent {
public:
  TensorCopies(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers)
      : HostComponent(entry), values(values), buffers(buffers) {}

  /// Copies `source` into the buffer of `target`; nothing when they are one buffer.
  void copy(const HostTensor &target, const HostTensor &source);
  void copyBytes(Value target, Value source, Value bytes);
  /// Copies memory of the device to the host and waits for it.
  void readFromDevice(Value target, Value source, Value bytes);
  /// The device's copy of constant data.
  Value constantOnDevice(Value data, const HostTensor &described);

private:
  HostValues &values;
  BufferAddresses &buffers;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_TENSORCOPIES_H
