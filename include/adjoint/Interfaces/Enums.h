// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The enumerations of ADEnums.td, which interfaces and the `ad` dialect share.

#ifndef ADJOINT_INTERFACES_ENUMS_H
#define ADJOINT_INTERFACES_ENUMS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/DialectImplementation.h"

#include "adjoint/Interfaces/ADEnums.h.inc"

#endif // ADJOINT_INTERFACES_ENUMS_H
