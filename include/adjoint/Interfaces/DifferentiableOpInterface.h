// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of DifferentiableOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
#define ADJOINT_INTERFACES_DIFFERENTIABLEOPINTERFACE_H

#include "adjoint/Interfaces/DerivativeTypeInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "adjoint/Interfaces/DifferentiableOpInterface.h.inc"

#endif // ADJOINT_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
