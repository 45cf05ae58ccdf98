// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which kernels for attention of few queries take less time.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONTIMES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONTIMES_H

#include "AttentionShape.h"

namespace mlir::ad::device {

/// Whether three launches that divide the keys are faster than one kernel, or than the loops where no kernel
/// covers it. The number of queries is known.
bool isSplitFaster(const AttentionShape &attention, bool mayUseTensorCores);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONTIMES_H
