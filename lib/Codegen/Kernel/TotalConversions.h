// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The part of TotalScalars.h for conversions between integers and floats, and for bits of floats.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_TOTALCONVERSIONS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_TOTALCONVERSIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// A float that every target computes in another type.
bool isShortFloat(Type type);

/// Replaces a conversion of arith by one whose result is defined for all operands. False if it stays.
bool makeConversionTotal(Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CODEGEN_KERNEL_TOTALCONVERSIONS_H
