// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise kernels on a GPU: each thread computes contiguous elements with 16-byte loads and stores.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_ELEMENTWISEEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_ELEMENTWISEEMITTER_H

#include "../Generic/GPUKernelEmitter.h"

namespace mlir::ad::device {

class ElementwiseEmitter : public GPUKernelEmitter {
public:
  using GPUKernelEmitter::GPUKernelEmitter;

  LogicalResult emitNest(const Nest &nest, Store store) override;

private:
  LogicalResult emitVectors(const Nest &nest, int64_t axis, int64_t length, Store store);
  int64_t runLength(const Nest &nest, int64_t axis);
  LogicalResult emitRuns(const Nest &nest, int64_t length, Store store);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_ELEMENTWISEEMITTER_H
