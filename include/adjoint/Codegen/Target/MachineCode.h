// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What code for CPUs and code for GPUs have in common in LLVM's code generator: how it treats floats, and its
// passes.
#ifndef ADJOINT_CODEGEN_TARGET_MACHINECODE_H
#define ADJOINT_CODEGEN_TARGET_MACHINECODE_H

#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::ad {

/// A machine that contracts nothing: only `ad.fma` becomes a fused multiply-add. `features` are LLVM's names
/// with + or
/// -, separated by commas; `isJIT` says that the code runs in this process. An error if this build of LLVM
/// does not have the target, or its caller has not initialised it.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const llvm::Triple &triple, llvm::StringRef cpu, llvm::StringRef features, bool isJIT);

/// Simplifies the code by few passes, none of which changes the order or the rounding of float arithmetic.
/// Our lowerings produce vector code, so that the loop and SLP vectorisers would take time without effect.
llvm::Error optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_TARGET_MACHINECODE_H
