// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From a module of kernels in the LLVM and NVVM dialects to code of a GPU.

#ifndef ADJOINT_LIB_CONVERSION_SERIALIZEKERNELS_PTX_H
#define ADJOINT_LIB_CONVERSION_SERIALIZEKERNELS_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad {

/// A chip and the version of PTX that knows it.
struct Chip {
  StringLiteral name, ptx;
  int64_t sharedBytes; ///< that a block may have on every GPU that runs the code
};
/// The chips that code is generated for, and their names in a sentence.
std::optional<Chip> findChip(StringRef name);
std::string chipNames();

/// The PTX of the kernels; fails after a diagnostic.
FailureOr<std::string> emitPtx(::mlir::gpu::GPUModuleOp kernels, const Chip &chip);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_SERIALIZEKERNELS_PTX_H
