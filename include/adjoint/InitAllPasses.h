// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The one place where tools register passes and pipelines.

#ifndef ADJOINT_INITALLPASSES_H
#define ADJOINT_INITALLPASSES_H

#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "mlir/InitAllPasses.h"

namespace mlir::ad {
/// Adjoint's passes and pipelines.
inline void registerAdjointPasses() {
  registerADTransformsPasses();
  registerADConversionPasses();
  registerPipelines();
}

/// Everything: Adjoint's passes and all of upstream's.
inline void registerAllPasses() {
  registerAdjointPasses();
  mlir::registerAllPasses();
}
} // namespace mlir::ad

#endif // ADJOINT_INITALLPASSES_H
