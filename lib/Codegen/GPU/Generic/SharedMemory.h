// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shared memory of a thread block.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_SHAREDMEMORY_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_SHAREDMEMORY_H

#include "adjoint/Codegen/Target/Chips.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::ad::device {

/// The address of a new global in shared memory, before the function. Its name is that of the function and
/// `suffix`. With no bytes it is the dynamic shared memory, whose size is in the launch.
Value sharedMemory(OpBuilder &builder, Operation *function, int64_t bytes, StringRef suffix,
                   int64_t alignment = kBankRowBytes);
/// The address that many bytes after `pointer`.
Value addBytes(OpBuilder &builder, Location loc, Value pointer, Value bytes);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_SHAREDMEMORY_H
