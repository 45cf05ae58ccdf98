// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operand tiles of `wgmma` in shared memory, as TMA writes them with the 128-byte swizzle; their matrix
// descriptors, and the instruction itself (PTX ISA: wgmma, shared memory matrix layout; CUTLASS:
// GMMA::Major).

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_SWIZZLEDTILE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_SWIZZLEDTILE_H

#include "adjoint/Codegen/Target/Chips.h"
#include "mlir/IR/Builders.h"

namespace mlir::ad::device {

/// Bytes of a staged row. Its 16-byte chunk c is stored at chunk c ^ (r % 8), where r is the number of the
/// row.
constexpr int64_t kSwizzleBytes = 128;
/// The alignment of a tile, with which the numbers of rows start at 0.
constexpr int64_t kTileAlignment = 1024;
/// M of `wgmma`, and its K in bytes.
constexpr int64_t kWgmmaM = 64, kWgmmaKBytes = 32;

/// A tile of `extent` elements along M or N by `k` elements along K. A K-major tile has a staged row for each
/// element along M or N. The staged rows of other tiles run along M or N, which only 16-bit elements may do:
/// slabs of 64 elements of M or N by all of K follow each other.
struct SwizzledTile {
  int64_t extent, k;
  bool kMajor;
  int64_t elementBytes;

  int64_t bytes() const { return extent * k * elementBytes; }
  int64_t rowElements() const { return kSwizzleBytes / elementBytes; }
  /// TMA loads that fill it, and the size of each.
  int64_t slabCount() const { return kMajor ? 1 : extent / rowElements(); }
  int64_t slabExtent() const { return extent / slabCount(); }
  int64_t slabBytes() const { return bytes() / slabCount(); }
  /// Bytes from the start of the tile to an index in M or N, a multiple of 64, and a step of K.
  int64_t offsetOf(int64_t index, int64_t step) const;

  /// The matrix descriptor of the tile that starts at `pointer`.
  Value describe(OpBuilder &builder, Location loc, Value pointer) const;
  /// The descriptor plus some bytes.
  static Value advance(OpBuilder &builder, Location loc, Value descriptor, int64_t bytes);
};

/// wgmma.mma_async: adds the product of 64 rows of A by some columns of B, one step of K, to the accumulators
/// of a warpgroup: a structure of f32, or of i32 for bytes, with half as many elements per thread as columns.
/// The operands may change after the next wait for it.
Value emitWgmma(OpBuilder &builder, Location loc, Type element, Value a, bool aKMajor, Value b, bool bKMajor,
                Value accumulators);

/// Zero accumulators of `columns` columns.
Value zeroAccumulators(OpBuilder &builder, Location loc, Type type, int64_t columns);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_SWIZZLEDTILE_H
