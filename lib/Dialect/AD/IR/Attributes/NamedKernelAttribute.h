// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The attribute with which a program chooses the implementation of one operation.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_NAMEDKERNELATTRIBUTE_H
#define ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_NAMEDKERNELATTRIBUTE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::ad {
/// A string on an operation of `ad`: the name of an implementation, which ad-exchange-kernels reads.
constexpr StringLiteral kNamedKernelAttr = "ad.named_kernel";
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_NAMEDKERNELATTRIBUTE_H
