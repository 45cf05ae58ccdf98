// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs with machine code, which may do whatever this process may do (docs/security.md).

#ifndef ADJOINT_LIB_RUNNER_SESSION_NATIVECODE_H
#define ADJOINT_LIB_RUNNER_SESSION_NATIVECODE_H

#include "adjoint/Runner/Options/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::ad::runner {

/// Whether native code of the program runs: with --allow-native, and never from a trace.
bool allowsNativeCode(const Options &options);

/// An error with a location for the first operation of a dialect that is compiled as it stands: `llvm`, with
/// inline assembly and calls by address, and the code of GPUs. Success if the options allow such code. The
/// program of a trace is refused in any case: a trace is data.
llvm::Error refuseNativeCode(ModuleOp module, const Options &options);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_NATIVECODE_H
