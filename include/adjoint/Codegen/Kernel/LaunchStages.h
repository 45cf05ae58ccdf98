// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How the host launches a GPU kernel that is several launches with memory between them.

#ifndef ADJOINT_CODEGEN_KERNEL_LAUNCHSTAGES_H
#define ADJOINT_CODEGEN_KERNEL_LAUNCHSTAGES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::ad {

/// Such a kernel has that attribute, an array of suffixes, and no function of its own. A function of the host
/// next to it returns for the operands the bytes of the memory, and the blocks of each stage. The functions
/// with the suffixes take the operands and the memory; the host launches them one after the other.
constexpr llvm::StringLiteral kLaunchStagesAttr = "ad.launch_stages", kStageSizesSuffix = "$stage_sizes";

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_LAUNCHSTAGES_H
