// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The lowered form of each value of the host program: a tensor is a pointer and sizes, every other value a
// scalar.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTVALUES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTVALUES_H

#include "EntryBuilder.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ad::host {

struct HostTensor {
  Value pointer;
  SmallVector<Value> sizes;
  RankedTensorType type;
  int64_t buffer =
      -1; ///< of the memory plan; -1 for constants, selected addresses and arguments that are not donated
  bool isZero = false; ///< a constant whose bytes are all 0
};

class HostValues : public HostComponent {
public:
  using HostComponent::HostComponent;

  HostTensor tensor(Value value) const { return tensors.lookup(value); }
  void bind(Value value, HostTensor tensor) { tensors[value] = std::move(tensor); }
  Value scalar(Value value) const { return lowered.lookupOrDefault(value); }
  void bindScalar(Value value, Value scalar) { lowered.map(value, scalar); }
  SmallVector<Value> scalars(ValueRange values) const;
  /// The lowered values of those that are no tensors, and the other direction.
  SmallVector<Value> nonTensorScalars(ValueRange values) const;
  void bindNonTensors(ValueRange values, ValueRange scalars);
  /// Copies an operation on scalars.
  void clone(Operation &op) { builder.clone(op, lowered); }

  SmallVector<Value> sizesOf(RankedTensorType type, ValueRange dynamic);
  Value elementCount(const HostTensor &tensor);
  Value byteCount(const HostTensor &tensor);

private:
  IRMapping lowered;
  DenseMap<Value, HostTensor> tensors;
};

/// Those of the values that are no tensors.
SmallVector<Value> nonTensors(ValueRange values);

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTVALUES_H
