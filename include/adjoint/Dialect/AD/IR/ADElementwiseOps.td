// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// All elementwise operations. One file is generated for all of them.

#ifndef ADJOINT_DIALECT_AD_IR_ADELEMENTWISEOPS
#define ADJOINT_DIALECT_AD_IR_ADELEMENTWISEOPS

include "adjoint/Dialect/AD/IR/ADElementaryFunctionOps.td"
include "adjoint/Dialect/AD/IR/ADElementwiseBinaryOps.td"
include "adjoint/Dialect/AD/IR/ADElementwiseTernaryOps.td"
include "adjoint/Dialect/AD/IR/ADElementwiseUnaryOps.td"

#endif // ADJOINT_DIALECT_AD_IR_ADELEMENTWISEOPS
