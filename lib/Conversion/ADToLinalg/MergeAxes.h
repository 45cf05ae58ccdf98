// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Fewer and longer axes for contractions and elementwise fusions.

#ifndef ADJOINT_LIB_CONVERSION_ADTOLINALG_MERGEAXES_H
#define ADJOINT_LIB_CONVERSION_ADTOLINALG_MERGEAXES_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Makes one axis of adjacent axes that each value of the fusion has in this order, or repeats together, or
/// lacks. Operands and results are reshaped outside, which costs nothing, and no sum changes its order. In a
/// contraction these are the free axes of one operand, or batch axes: tensor<8x16x32xf32> times
/// tensor<32x4x8xf32> becomes tensor<128x32xf32> times tensor<32x32xf32>. In an elementwise fusion they are
/// merged where the last axis is short and operands are broadcast along axes before it:
/// tensor<4096x126x2xf32> plus tensor<126x2xf32> becomes tensor<4096x252xf32> plus tensor<252xf32>. Returns
/// the new fusion.
FusionOp mergeAxes(FusionOp fusion);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_ADTOLINALG_MERGEAXES_H
