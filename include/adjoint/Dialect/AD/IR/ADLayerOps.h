// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of layers. Only their derivatives and decompositions name them.

#ifndef ADJOINT_DIALECT_AD_IR_ADLAYEROPS_H
#define ADJOINT_DIALECT_AD_IR_ADLAYEROPS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "adjoint/Interfaces/PrecisionOpInterface.h"

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADLayerOps.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_ADLAYEROPS_H
