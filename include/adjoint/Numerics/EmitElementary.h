// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits an elementary function as `arith` operations.
#ifndef ADJOINT_NUMERICS_EMITELEMENTARY_H
#define ADJOINT_NUMERICS_EMITELEMENTARY_H

#include "adjoint/Numerics/Elementary.h"
#include "mlir/IR/Builders.h"

namespace mlir::ad::numerics {

/// `function` of operands that are all f32 or all f64, scalars or vectors of one shape; the bits of
/// `evaluate` in every lane. Uses the dialects arith, math (fma and sqrt only), and scf and vector around
/// what few arguments need. One operand, or two when isBinary.
Value emitElementary(OpBuilder &builder, Location loc, Elementary function, ValueRange operands);

/// The shorter form of a function that has one, of an operand of f32; the bits of `evaluateApproximate`.
Value emitApproximation(OpBuilder &builder, Location loc, Elementary function, Value operand);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_EMITELEMENTARY_H
