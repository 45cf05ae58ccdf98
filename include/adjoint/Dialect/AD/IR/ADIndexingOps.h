// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations that read or write at indices which tensors hold. Few files name them; to all others they
// are loop nests and ordered writes.

#ifndef ADJOINT_DIALECT_AD_IR_ADINDEXINGOPS_H
#define ADJOINT_DIALECT_AD_IR_ADINDEXINGOPS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/IndexedAccess.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_ADINDEXINGOPS_H
