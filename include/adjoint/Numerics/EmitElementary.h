// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits an elementary function as `arith` operations.
#ifndef ADJOINT_NUMERICS_EMITELEMENTARY_H
#define ADJOINT_NUMERICS_EMITELEMENTARY_H

#include "adjoint/Numerics/Elementary.h"
#include "mlir/IR/Builders.h"

namespace mlir::ad::numerics {

/// `function` of one operand, or of two if isBinary. All operands are f32 or all are f64, scalars or vectors
/// of one shape. Each element has the bits of `evaluate`. Uses the dialects arith, math (fma and sqrt only),
/// and scf and vector for branches around slow paths.
Value emitElementary(OpBuilder &builder, Location loc, Elementary function, ValueRange operands);

/// The shorter form of a function that has one, for an f32 operand, with the bits of `evaluateApproximate`.
Value emitApproximation(OpBuilder &builder, Location loc, Elementary function, Value operand);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_EMITELEMENTARY_H
