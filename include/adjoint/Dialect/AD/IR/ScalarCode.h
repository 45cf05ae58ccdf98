// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Short helpers that build scalar code: `arith` and `math` operations, `ad.elementary` and `ad.convert` on
// the elements of tensors. For the models of ElementwiseOpInterface and for conversions to linalg.

#ifndef ADJOINT_DIALECT_AD_IR_SCALARCODE_H
#define ADJOINT_DIALECT_AD_IR_SCALARCODE_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::ad {
/// `ad.convert` of a scalar; the scalar itself when it has the type already.
Value convertScalar(OpBuilder &builder, Location loc, Value scalar, Type type);

/// A scalar constant of `type` from a double or an integer.
Value numberConstant(OpBuilder &builder, Location loc, Type type, double value);

/// Where scalar code is built.
struct ScalarCode {
  OpBuilder &builder;
  Location loc;

  /// An operation whose result has the type of its operands.
  template <class Op> Value make(ValueRange operands) const {
    return Op::create(builder, loc, operands.front().getType(), operands);
  }
  /// Creates FloatOp or IntegerOp, by element type.
  template <class FloatOp, class IntegerOp> Value make(ValueRange operands) const {
    return isa<FloatType>(operands.front().getType()) ? make<FloatOp>(operands) : make<IntegerOp>(operands);
  }
  Value constant(Type type, double value) const { return numberConstant(builder, loc, type, value); }
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) const {
    return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) const {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value onTrue, Value onFalse) const {
    return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  }
  Value elementary(numerics::Elementary function, ValueRange operands) const {
    return ElementaryOp::create(builder, loc, operands.front().getType(), function, /*approximate=*/false,
                                operands);
  }
  Value convert(Value scalar, Type type) const { return convertScalar(builder, loc, scalar, type); }

  /// An i64 whose order, or the reverse of it, is the order of the numbers: -0 < +0. NaN is above all others
  /// in both.
  Value orderKey(Value number, bool descending) const;

  /// The scalars in the types in which operations on them compute: f32 for 16- and 8-bit floats.
  SmallVector<Value> widen(ValueRange scalars) const;
};
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_SCALARCODE_H
