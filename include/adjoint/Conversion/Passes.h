// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declarations and registration of the passes in Passes.td.

#ifndef ADJOINT_CONVERSION_PASSES_H
#define ADJOINT_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace gpu {
class GPUModuleOp;
} // namespace gpu
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace mlir::ad {
#define GEN_PASS_DECL
#include "adjoint/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

#endif // ADJOINT_CONVERSION_PASSES_H
