// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Longer rows for elementwise fusions.

#ifndef ADJOINT_LIB_CONVERSION_ADTOLINALG_MERGEAXES_H
#define ADJOINT_LIB_CONVERSION_ADTOLINALG_MERGEAXES_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Where the last axis of an elementwise fusion is short, and operands are broadcast along axes before it,
/// makes one axis of adjacent static axes that every value either has or repeats. Operands and
/// results are reshaped outside, which costs nothing: tensor<4096x126x2xf32> plus tensor<126x2xf32> becomes
/// tensor<4096x252xf32> plus tensor<1x252xf32>. Returns the new fusion.
FusionOp mergeShortAxes(FusionOp fusion);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_ADTOLINALG_MERGEAXES_H
