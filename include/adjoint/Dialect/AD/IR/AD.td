// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The whole `ad` dialect: its operations, and attributes of all kinds, which one parser knows.

#ifndef ADJOINT_DIALECT_AD_IR_AD
#define ADJOINT_DIALECT_AD_IR_AD

include "adjoint/Dialect/AD/IR/ADLaunchAttributes.td"
include "adjoint/Dialect/AD/IR/ADOps.td"
include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.td"

#endif // ADJOINT_DIALECT_AD_IR_AD
