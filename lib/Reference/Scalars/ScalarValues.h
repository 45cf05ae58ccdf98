// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalars of the host program as numbers, through the frame.

#ifndef ADJOINT_LIB_REFERENCE_SCALARS_SCALARVALUES_H
#define ADJOINT_LIB_REFERENCE_SCALARS_SCALARVALUES_H

#include "../Interpreter.h"
#include "llvm/ADT/APInt.h"

namespace mlir::ad::reference {

/// Whether no operand is a tensor, and all types are known. Tensors travel through the frame too, but arith
/// on tensors is not host code.
bool isScalarCode(Operation *op);
/// Refuses an operation that is not.
int32_t refuseTensors(Operation *op, Frame &frame);

/// The bits of a scalar in memory, and the scalar of the type that has these bits.
uint64_t bitsOf(const Tensor &scalar);
Tensor withBits(ElementType type, uint64_t bits);

/// The bits of an integer or index, in its width.
APInt integerOf(Frame &frame, Value value);
/// Sets an integer or index to the low bits of a number.
int32_t setInteger(Frame &frame, Value value, const APInt &number);

void registerScalarIntegers(Semantics &semantics);

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_SCALARS_SCALARVALUES_H
