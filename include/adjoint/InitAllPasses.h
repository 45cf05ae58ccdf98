// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The one place where tools register passes and pipelines.

#ifndef ADJOINT_INITALLPASSES_H
#define ADJOINT_INITALLPASSES_H

#include "mlir/InitAllPasses.h"

#ifdef ADJOINT_HAS_ADTransforms
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#endif
#ifdef ADJOINT_HAS_ADConversion
#include "adjoint/Conversion/Passes.h"
#endif
#ifdef ADJOINT_HAS_ADPipelines
#include "adjoint/Pipelines/Pipelines.h"
#endif

namespace mlir::ad {
/// Adjoint's passes and pipelines.
inline void registerAdjointPasses() {
#ifdef ADJOINT_HAS_ADTransforms
  registerADTransformsPasses();
#endif
#ifdef ADJOINT_HAS_ADConversion
  registerADConversionPasses();
#endif
#ifdef ADJOINT_HAS_ADPipelines
  registerPipelines();
#endif
}

/// Everything: Adjoint's passes and all of upstream's.
inline void registerAllPasses() {
  registerAdjointPasses();
  mlir::registerAllPasses();
}
} // namespace mlir::ad

#endif // ADJOINT_INITALLPASSES_H
