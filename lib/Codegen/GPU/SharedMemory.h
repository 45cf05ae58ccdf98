// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory that the threads of a block share.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SHAREDMEMORY_H
#define ADJOINT_LIB_CODEGEN_GPU_SHAREDMEMORY_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::ad::device {

/// What a block has without asking the driver for more.
constexpr int64_t kSharedBytes = 48 * 1024;

/// The address of a global before the function, which has one place in each block. It is called after the
/// function, of which several globals are told apart by `suffix`. With no bytes it is as large as the launch
/// says.
Value sharedMemory(OpBuilder &builder, Operation *function, int64_t bytes, StringRef suffix,
                   int64_t alignment = 128);
/// So many bytes behind an address.
Value bytesBehind(OpBuilder &builder, Location loc, Value pointer, Value bytes);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SHAREDMEMORY_H
