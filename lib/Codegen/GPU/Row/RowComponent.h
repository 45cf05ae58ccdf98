// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components of row kernels on GPUs.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWCOMPONENT_H

#include "../Generic/GPUKernelEmitter.h"
#include "RowMatch.h"

namespace mlir::ad::device {

class RowEmitter;

class RowComponent : public GPUComponent {
public:
  explicit RowComponent(RowEmitter &emitter);

protected:
  RowEmitter &emitter;
  const Rows &rows;
  WarpReductions &warpReductions;
  VectorizedAccess &vectorized;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWCOMPONENT_H
