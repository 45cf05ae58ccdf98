// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of LinalgLoweringOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_LINALGLOWERINGOPINTERFACE_H
#define ADJOINT_INTERFACES_LINALGLOWERINGOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "adjoint/Interfaces/LinalgLoweringOpInterface.h.inc"

#endif // ADJOINT_INTERFACES_LINALGLOWERINGOPINTERFACE_H
