// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which contractions in linalg the dot-product instructions of CPUs and the tensor cores of GPUs compute.

#ifndef ADJOINT_CODEGEN_KERNEL_CONTRACTIONS_H
#define ADJOINT_CODEGEN_KERNEL_CONTRACTIONS_H

#include "adjoint/Codegen/Target/CPUs.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/PackedLayout.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad {

/// Whether a CPU with dot products of bf16 pairs uses them for this contraction, which sums in `order`: if
/// the operation permits them and the types of both operands give the contracted axis an even size. The roles
/// and the other sizes of the operands do not matter, since rewrites without a permission exchange operands,
/// and a program computes the same fused and unfused.
bool usesPairDotProducts(linalg::GenericOp contraction, OrderAttr order);

/// Whether the contraction adds products of two operands of i8 into i32, over one reduced axis. Sums of
/// integers wrap, so that any order gives the same bits.
bool multipliesBytes(linalg::GenericOp contraction);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_CONTRACTIONS_H
