// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The one place where tools register passes and pipelines.

#ifndef ADJOINT_INITALLPASSES_H
#define ADJOINT_INITALLPASSES_H

#include "adjoint/Codegen/Passes.h"
#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Emulator/Passes.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "adjoint/Transforms/Passes.h"
#include "mlir/InitAllPasses.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::ad {
/// Adjoint's passes and pipelines.
inline void registerAdjointPasses() {
  registerADTransformsPasses();
  registerADKernelTransformsPasses();
  registerADConversionPasses();
  registerADCodegenPasses();
  registerADEmulatorPasses();
  registerPipelines();
}

/// The pipelines, in the order in which tools list them; upstream's registry of pipelines cannot be walked.
inline constexpr llvm::StringLiteral kAdjointPipelines[] = {
    "ad-to-linalg",     "ad-to-plain-linalg", "ad-to-cpu",      "ad-to-cpu-frontend",
    "ad-to-cpu-fusion", "ad-to-cpu-kernels",  "ad-to-cpu-code", "ad-to-gpu",
    "ad-to-gpu-fusion", "ad-to-gpu-kernels",  "ad-to-gpu-code", "ad-to-gpu-binary"};

/// Everything: Adjoint's passes and all of upstream's.
inline void registerAllPasses() {
  registerAdjointPasses();
  mlir::registerAllPasses();
}
} // namespace mlir::ad

#endif // ADJOINT_INITALLPASSES_H
