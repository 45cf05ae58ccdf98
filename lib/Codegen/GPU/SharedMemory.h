// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shared memory of a thread block.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SHAREDMEMORY_H
#define ADJOINT_LIB_CODEGEN_GPU_SHAREDMEMORY_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::ad::device {

/// Static shared memory of a block; more is dynamic shared memory, which a launch requests.
constexpr int64_t kSharedBytes = 48 * 1024;

/// The address of a new global in shared memory, before the function. Its name is that of the function and
/// `suffix`. With no bytes it is the dynamic shared memory, whose size is in the launch.
Value sharedMemory(OpBuilder &builder, Operation *function, int64_t bytes, StringRef suffix,
                   int64_t alignment = 128);
/// The address so many bytes after `pointer`.
Value bytesBehind(OpBuilder &builder, Location loc, Value pointer, Value bytes);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SHAREDMEMORY_H
