// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles of operands in shared memory, as tensor maps bring them there and as the multiplications of a
// warpgroup read them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_SWIZZLEDTILE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_SWIZZLEDTILE_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::device {

/// Bytes of a line, in which chunks of 16 bytes are exchanged by the number of the line; what the hardware
/// calls a swizzle of 128 bytes.
constexpr int64_t kSwizzleBytes = 128;
/// Tiles begin where the numbers of lines begin again.
constexpr int64_t kTileAlignment = 1024;
/// Threads that multiply together, the rows that they have of the result, and the depth of one step.
constexpr int64_t kWarpgroupThreads = 128, kWarpgroupRows = 64, kStepBytes = 32;

/// Part of an operand: `extent` rows or columns of the result by `depth`. Where a line runs along the depth,
/// there is one after another for each row; where it runs across, which only elements of 16 bits may, slabs
/// of 64 rows by the depth follow each other.
struct SwizzledTile {
  int64_t extent, depth;
  bool alongDepth;
  int64_t elementBytes;

  int64_t bytes() const { return extent * depth * elementBytes; }
  int64_t lineElements() const { return kSwizzleBytes / elementBytes; }
  /// Copies that bring it, and what each brings.
  int64_t slabCount() const { return alongDepth ? 1 : extent / lineElements(); }
  int64_t slabExtent() const { return extent / slabCount(); }
  int64_t slabBytes() const { return bytes() / slabCount(); }
  /// Bytes from the start of the tile to a row, a multiple of 64, at the depth of a step.
  int64_t offsetOf(int64_t row, int64_t deep) const;

  /// The tile as an operand of a multiplication; `pointer` is where it starts.
  Value describe(OpBuilder &builder, Location loc, Value pointer) const;
  /// The same from `bytes` bytes on.
  static Value advance(OpBuilder &builder, Location loc, Value descriptor, int64_t bytes);
};

/// Adds the product of 64 rows by some columns, one step deep, to the sums of a warpgroup: a structure of
/// f32, or of i32 for bytes, half as many as columns for each thread. It goes on behind; the operands may
/// change when it has been waited for.
Value multiplyInWarpgroup(OpBuilder &builder, Location loc, Type element, Value rows, bool rowsAlongDepth,
                          Value columns, bool columnsAlongDepth, Value sums);

/// Zeros for the sums of `columns` columns.
Value zeroSums(OpBuilder &builder, Location loc, Type type, int64_t columns);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_SWIZZLEDTILE_H
