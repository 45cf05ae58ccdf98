// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of `arith` and `math` as operations of `ad` on tensors, each of which holds the values that the
// scalar operation has at all points of a loop nest. The same functions raise operations that are on tensors
// already.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_RAISESCALARS_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_RAISESCALARS_H

#include "TensorCode.h"

namespace mlir::ad {
/// The results of an operation of `arith` or `math` for the tensors that stand for its operands; none if it
/// has no equivalent. Elements of operands and results are those of `ad`.
SmallVector<Value> raiseScalarOp(TensorCode code, Operation *op, ValueRange operands);

// By family; a null value where the operation is of none of its kinds.
Value raiseArithmetic(TensorCode code, Operation *op, ValueRange x);
Value raiseIntegers(TensorCode code, Operation *op, ValueRange x);
Value raiseComparison(TensorCode code, Operation *op, ValueRange x);
Value raiseConversion(TensorCode code, Operation *op, ValueRange x);
Value raiseMath(TensorCode code, Operation *op, ValueRange x);
Value raiseBitCounts(TensorCode code, Operation *op, ValueRange x);

/// x / y, rounded down and up.
Value floorQuotient(TensorCode code, Value x, Value y);
Value ceilQuotient(TensorCode code, Value x, Value y);
/// x < y of integers without sign.
Value unsignedLess(TensorCode code, Value x, Value y);
/// The larger or smaller number; of a number and a NaN, the number.
Value maxNumber(TensorCode code, Value x, Value y);
Value minNumber(TensorCode code, Value x, Value y);
/// `x` with the highest bit flipped: the order of the results as signed numbers is that of `x` as numbers
/// without sign. Of i1, which `ad` compares as 0 and 1, `x` itself.
Value flipSign(TensorCode code, Value x);
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_RAISESCALARS_H
