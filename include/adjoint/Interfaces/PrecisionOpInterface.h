// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of PrecisionOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_PRECISIONOPINTERFACE_H
#define ADJOINT_INTERFACES_PRECISIONOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

#include "adjoint/Interfaces/PrecisionOpInterface.h.inc"

#endif // ADJOINT_INTERFACES_PRECISIONOPINTERFACE_H
