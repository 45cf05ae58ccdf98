// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads programs from files, and from pipes, which need not end. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_IO_INPUTFILE_H
#define ADJOINT_LIB_RUNNER_IO_INPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::ad::runner {

/// Checks the first bytes of a file, at most kInputHead of them, before the rest is read. Returns an error,
/// or the length of the file that its head states, 0 when it states none.
using HeadCheck = llvm::function_ref<llvm::Expected<uint64_t>(llvm::StringRef head)>;
constexpr size_t kInputHead = 64;

/// Reads a file or a pipe, standard input for `-`. Refuses devices, which have no end. The buffer ends with a
/// zero. The file is not mapped: an access of a mapped file that shrinks is a bus error.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path, HeadCheck check);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_IO_INPUTFILE_H
