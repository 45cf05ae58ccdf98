// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a contraction in linalg says about itself.

#ifndef ADJOINT_CODEGEN_KERNEL_CONTRACTIONS_H
#define ADJOINT_CODEGEN_KERNEL_CONTRACTIONS_H

#include "adjoint/Codegen/Target/Tiles.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/PackedLayout.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad {

/// On the linalg.generic of a contraction: the operation has the permission mma. (The kernel has only the
/// permissions that all its operations share.)
inline constexpr llvm::StringLiteral kMmaAttr = "ad.mma";

/// What AVX512_BF16's vdpbf16ps works on: lanes of f32.
inline constexpr int64_t kDotProductLanes = 16;

/// Whether a processor with dot products of bf16 pairs uses them for this contraction, which sums in `order`:
/// wherever the operation permits them and both operands' types give the contracted axis an even size.
/// Neither operand's role nor its other sizes matter, since rewrites without a permission exchange operands,
/// and a program computes the same fused and unfused.
bool usesPairDotProducts(linalg::GenericOp contraction, OrderAttr order);

/// What x86's vpdpbusd adds to each lane of i32: products of bytes.
inline constexpr int64_t kBytesPerLane = 4;

/// Whether vpdpbusd exists for vectors of so many lanes of i32, on processors that have it.
inline bool hasByteDotProducts(int64_t lanes) { return lanes == 8 || lanes == 16; }

/// Whether the contraction adds products of two operands of i8 into i32, over one reduced axis. Sums of
/// integers wrap, so that any order gives the same bits.
bool multipliesBytes(linalg::GenericOp contraction);

/// Rows and vectors of `lanes` accumulators of a type that stay in registers over the whole reduction.
struct RegisterTile {
  int64_t rows, vectors;
};
RegisterTile chooseRegisterTile(const TileTable &table, int64_t rows, int64_t columns, int64_t lanes,
                                Type sum);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_CONTRACTIONS_H
