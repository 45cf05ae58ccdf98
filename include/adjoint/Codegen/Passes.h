// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declarations and registration of the passes in Passes.td.

#ifndef ADJOINT_CODEGEN_PASSES_H
#define ADJOINT_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mlir::ad {
/// The symbol of the module of the GPU's kernels.
constexpr char kKernelModule[] = "ad_kernels";

#define GEN_PASS_DECL
#include "adjoint/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "adjoint/Codegen/Passes.h.inc"
} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_PASSES_H
