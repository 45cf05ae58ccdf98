// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `check` dialect and its operations.

#ifndef ADJOINT_DIALECT_CHECK_IR_CHECKOPS_H
#define ADJOINT_DIALECT_CHECK_IR_CHECKOPS_H

#include "adjoint/Interfaces/DifferentiableOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "adjoint/Dialect/Check/IR/CheckDialect.h.inc"

#define GET_OP_CLASSES
#include "adjoint/Dialect/Check/IR/CheckOps.h.inc"

#endif // ADJOINT_DIALECT_CHECK_IR_CHECKOPS_H
