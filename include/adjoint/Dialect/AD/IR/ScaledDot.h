// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The parts of which the meaning of ad.scaled_dot consists, as operations: magnitudes, scales and rounding to
// 8 bits. Its decomposition, its derivative and ad-autocast build with them.

#ifndef ADJOINT_DIALECT_AD_IR_SCALEDDOT_H
#define ADJOINT_DIALECT_AD_IR_SCALEDDOT_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {
/// The largest magnitude of the elements, a tensor<f32>: NaN if one is NaN, 0 if there are none.
Value largestMagnitude(OpBuilder &builder, Location loc, Value value);

/// The largest power of two by which a value of that magnitude may be multiplied and stay finite in the 8-bit
/// type; 1 for 0, NaN and infinities. Between 2^-126 and 2^126.
Value scaleOfMagnitude(OpBuilder &builder, Location loc, Value magnitude, Type byteFloat);

/// Each element in f32 times the scale, rounded to the 8-bit type.
Value roundScaled(OpBuilder &builder, Location loc, Value value, Value scale, Type byteFloat);

/// The greatest finite number of an 8-bit float type.
double largestFinite(Type byteFloat);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_SCALEDDOT_H
