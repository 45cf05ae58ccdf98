// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of FusableOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_FUSABLEOPINTERFACE_H
#define ADJOINT_INTERFACES_FUSABLEOPINTERFACE_H

#include "adjoint/Interfaces/Enums.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "adjoint/Interfaces/FusableOpInterface.h.inc"

#endif // ADJOINT_INTERFACES_FUSABLEOPINTERFACE_H
