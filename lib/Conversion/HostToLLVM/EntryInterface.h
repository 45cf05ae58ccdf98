// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments and results of an entry, as the host passes them. The memory plan has buffers in some results:
// kernels write these in place. A result in a donated argument has the data of that argument. Every other
// result is copied at the end.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_ENTRYINTERFACE_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_ENTRYINTERFACE_H

#include "TensorCopies.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad::host {

class EntryInterface : public HostComponent {
public:
  EntryInterface(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers,
                 TensorDescriptors &descriptors, TensorCopies &copies)
      : HostComponent(entry), values(values), buffers(buffers), descriptors(descriptors), copies(copies) {}

  void bindArguments();
  void emitReturn(func::ReturnOp op);

private:
  HostTensor argumentTensor(int32_t number);
  Value argumentOnDevice(int32_t number);
  void returnDonated(int64_t argument, int64_t result, const HostTensor &tensor);
  void copyStackVariablesToResults();

  HostValues &values;
  BufferAddresses &buffers;
  TensorDescriptors &descriptors;
  TensorCopies &copies;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_ENTRYINTERFACE_H
