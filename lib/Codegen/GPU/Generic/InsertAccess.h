// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements of a tensor into which a slice is inserted: each is read from the slice or from the tensor around
// it.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_INSERTACCESS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_INSERTACCESS_H

#include "GPUComponent.h"

namespace mlir::ad::device {

class InsertAccess : public GPUComponent {
public:
  using GPUComponent::GPUComponent;

  FailureOr<Value> compute(tensor::InsertSliceOp insert, const Position &position);
  /// The position in the slice, and whether the slice contains it.
  std::pair<Position, Value> positionInSlice(tensor::InsertSliceOp insert, const Position &position);

private:
  Value loadChosen(tensor::InsertSliceOp insert, const Position &position);
  const Buffer *bufferOf(Value tensor) const;
  Value pointerTo(Value tensor, Position position);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_INSERTACCESS_H
