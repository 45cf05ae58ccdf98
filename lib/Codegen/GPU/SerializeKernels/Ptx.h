// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From a module of kernels in the LLVM and NVVM dialects to code of a GPU.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SERIALIZEKERNELS_PTX_H
#define ADJOINT_LIB_CODEGEN_GPU_SERIALIZEKERNELS_PTX_H

#include "adjoint/Codegen/Target/Chips.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad {

/// The oldest PTX version of the chip that has the instructions of the kernels; fails after a diagnostic.
FailureOr<StringRef> ptxVersionFor(::mlir::gpu::GPUModuleOp kernels, const Chip &chip);

/// The PTX of the kernels, in a version; fails after a diagnostic.
FailureOr<std::string> emitPtx(::mlir::gpu::GPUModuleOp kernels, const Chip &chip, StringRef version);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CODEGEN_GPU_SERIALIZEKERNELS_PTX_H
