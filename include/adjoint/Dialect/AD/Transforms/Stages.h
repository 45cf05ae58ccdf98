// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The stages of a program between the `ad` dialect and code. A pass refuses operations of an earlier stage,
// which it cannot lower, and names the pipelines that run before it.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_STAGES_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_STAGES_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// What a pass expects of its input, in the order of the pipelines.
enum class Stage {
  decomposed, ///< numerics explicit, no derivatives, only operations with a lowering
  fused,      ///< every operation that computes is in an `ad.fusion` with a kernel class
  lowered,    ///< fusions hold linalg
  outlined,   ///< launches in the host program, kernels outside
  planned,    ///< a buffer for every tensor
  emitted,    ///< the kernels are code of a GPU in a `gpu.module`
};

/// What to run before a pass that expects this stage: "run --ad-to-cpu-frontend first".
StringRef howToReach(Stage stage);

/// Whether the operation is code of an `ad.fusion` or `ad.kernel`.
bool isInKernel(Operation *op);

/// Whether the operation computes tensors outside of any kernel. A reshape of the host program moves nothing
/// and stays there once fusions hold linalg.
bool isOutsideKernels(Operation *op, Stage stage);

/// Fails, after an error at the first operation that has not come as far as the stage says. Looks at
/// operations up to Stage::outlined; a later stage is told by attributes that its passes look for themselves.
LogicalResult requireStage(Operation *root, Stage stage);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_STAGES_H
