// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations of random numbers. Only their derivatives and their scalar functions name them.

#ifndef ADJOINT_DIALECT_AD_IR_ADRANDOMOPS_H
#define ADJOINT_DIALECT_AD_IR_ADRANDOMOPS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADRandomOps.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_ADRANDOMOPS_H
