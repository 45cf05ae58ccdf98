// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of the host program that call a service of the runtime: feeds, receives, checks and shape
// conditions.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_RUNTIMESERVICES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_RUNTIMESERVICES_H

#include "BufferAddresses.h"
#include "TensorDescriptors.h"

namespace mlir::ad::host {

class RuntimeServices : public HostComponent {
public:
  RuntimeServices(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers,
                  TensorDescriptors &descriptors)
      : HostComponent(entry), values(values), buffers(buffers), descriptors(descriptors) {}

  void emitFeed(FeedOp feed);
  void emitReceive(ReceiveOp receive);
  void emitCheck(Operation *check);
  void emitRequire(RequireOp require);
  /// Fails at run time unless a loop's carry keeps its size along an axis.
  void requireSameCarry(int64_t carry, int64_t axis, Value before, Value after);

private:
  HostValues &values;
  BufferAddresses &buffers;
  TensorDescriptors &descriptors;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_RUNTIMESERVICES_H
