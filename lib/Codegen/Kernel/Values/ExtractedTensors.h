// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_EXTRACTEDTENSORS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_EXTRACTEDTENSORS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad::codegen {

/// The tensors that the scalar code of the operation reads at computed indices.
inline SmallVector<Value> extractedTensors(linalg::GenericOp generic) {
  return llvm::map_to_vector(generic.getOps<tensor::ExtractOp>(),
                             [](tensor::ExtractOp op) -> Value { return op.getTensor(); });
}

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_EXTRACTEDTENSORS_H
