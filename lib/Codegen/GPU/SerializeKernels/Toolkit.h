// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Machine code and fat binaries from PTX, by programs of the CUDA toolkit. Each program is found by its
// environment variable, in the search path or in the usual folders. Both functions fail after a diagnostic at
// `op`.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SERIALIZEKERNELS_TOOLKIT_H
#define ADJOINT_LIB_CODEGEN_GPU_SERIALIZEKERNELS_TOOLKIT_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// The code of one chip, by `ptxas` ($ADJOINT_PTXAS).
FailureOr<std::string> assemble(Operation *op, StringRef ptx, StringRef chip);

/// A fat binary with the PTX, which is that of `ptxChip`, and the code of each of the chips, by `ptxas` and
/// `fatbinary` ($ADJOINT_FATBINARY). The driver loads the code of its chip, or else compiles the PTX.
FailureOr<std::string> bundle(Operation *op, StringRef ptx, StringRef ptxChip, ArrayRef<std::string> chips);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CODEGEN_GPU_SERIALIZEKERNELS_TOOLKIT_H
