// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// All operations of the `ad` dialect; each family is generated on its own, this file is for documentation and tools.

#ifndef ADJOINT_DIALECT_AD_IR_ADOPS
#define ADJOINT_DIALECT_AD_IR_ADOPS

include "adjoint/Dialect/AD/IR/ADElementwiseOps.td"
include "adjoint/Dialect/AD/IR/ADRandomOps.td"
include "adjoint/Dialect/AD/IR/ADCreationOps.td"
include "adjoint/Dialect/AD/IR/ADShapeOps.td"
include "adjoint/Dialect/AD/IR/ADIndexingOps.td"
include "adjoint/Dialect/AD/IR/ADSortingOps.td"
include "adjoint/Dialect/AD/IR/ADWindowOps.td"
include "adjoint/Dialect/AD/IR/ADContractionOps.td"
include "adjoint/Dialect/AD/IR/ADReductionOps.td"
include "adjoint/Dialect/AD/IR/ADNNOps.td"
include "adjoint/Dialect/AD/IR/ADAttentionOps.td"
include "adjoint/Dialect/AD/IR/ADLayerOps.td"
include "adjoint/Dialect/AD/IR/ADControlOps.td"
include "adjoint/Dialect/AD/IR/ADDifferentiationOps.td"
include "adjoint/Dialect/AD/IR/ADKernelOps.td"
include "adjoint/Dialect/AD/IR/ADMemoryOps.td"

#endif // ADJOINT_DIALECT_AD_IR_ADOPS
