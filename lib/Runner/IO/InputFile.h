// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads programs. Files have an end; what comes through a pipe need not have one. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_IO_INPUTFILE_H
#define ADJOINT_LIB_RUNNER_IO_INPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::ad::runner {

/// Looks at the first bytes of a file, at most kInputHead of them, before the rest is read: an error, or the
/// length of the whole as the file itself states it, 0 when it states none.
using HeadCheck = llvm::function_ref<llvm::Expected<uint64_t>(llvm::StringRef head)>;
constexpr size_t kInputHead = 64;

/// A file or what comes through a pipe, `-` for standard input; devices without an end are refused. The
/// buffer ends with a zero. It is read, not mapped: a mapped file that shrinks is a bus error.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path, HeadCheck check);

/// Refuses what cannot be a program in MLIR, text or bytecode: empty and compiled files, and other binaries,
/// whose bytes would otherwise be shown on a terminal.
llvm::Error checkProgramText(const llvm::MemoryBuffer &input);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_IO_INPUTFILE_H
