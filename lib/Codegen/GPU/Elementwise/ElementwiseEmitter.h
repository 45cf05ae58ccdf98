// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise kernels on a GPU: a thread takes a run of neighbouring elements.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_ELEMENTWISEEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_ELEMENTWISEEMITTER_H

#include "RunEmitter.h"

namespace mlir::ad::device {

class ElementwiseEmitter : public RunEmitter {
public:
  using RunEmitter::RunEmitter;

private:
  LogicalResult emitNest(const Nest &nest, Store store) override;
  LogicalResult emitRuns(const Nest &nest, int64_t axis, int64_t length, Store store);
  LogicalResult emitFlatRuns(const Nest &nest, int64_t length, Store store);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_ELEMENTWISEEMITTER_H
