// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs with machine code, which may do whatever this process may do (docs/security.md).

#ifndef ADJOINT_LIB_RUNNER_COMPILE_NATIVECODE_H
#define ADJOINT_LIB_RUNNER_COMPILE_NATIVECODE_H

#include "adjoint/Runner/Options/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::ad::runner {

/// Whether native code of the program runs: with --allow-native, and never from a trace.
bool allowsNativeCode(const Options &options);

/// An error at the first operation that is code, or holds some, and reaches the code generator without a
/// check of ours: of the dialects `llvm`, `gpu`, `vector` and others, with their attributes, types or
/// locations, on addresses, or a launch of a function. Success if the options allow such code.
llvm::Error refuseNativeCode(ModuleOp module, const Options &options);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_COMPILE_NATIVECODE_H
