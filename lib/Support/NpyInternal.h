// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shared by writing a whole .npy file and appending to one. Internal to the runner.
#ifndef ADJOINT_LIB_SUPPORT_NPYINTERNAL_H
#define ADJOINT_LIB_SUPPORT_NPYINTERNAL_H

#include "adjoint/Support/Tensor.h"

namespace mlir::ad::runner {

/// The header of a file, padded to a multiple of 64. The first size of a stream has room for 20 digits, so
/// that the header keeps its length.
std::string makeNpyHeader(adrt_type type, llvm::ArrayRef<int64_t> shape, bool isStream = false);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_SUPPORT_NPYINTERNAL_H
