// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The mapping of output tiles to thread blocks: the number of tiles, their order (rasterization), and the
// origin of each tile in the result.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_TILEMAPPING_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_TILEMAPPING_H

#include "ContractionComponent.h"

namespace mlir::ad::device {

/// Where an output tile starts: its batch indices, its first row and its first column; and the part of K that
/// is summed.
struct TileOrigin {
  Value number; // of the tile
  Position batch;
  Value m, n;
  Value beginK, endK;
};

class TileMapping : public ContractionComponent {
public:
  using ContractionComponent::ContractionComponent;

  /// Emits the sizes of the loops; before everything else.
  void bindSizes();
  Value sizeM() const { return m; }
  Value sizeN() const { return n; }
  Value sizeK() const { return k; }
  /// Writes the grid into the launch shape. The host counts the tiles of a result of dynamic shape.
  void setGrid();
  Value tileCount();
  /// The tile with a number, and all of K.
  TileOrigin originOf(Value number);
  /// The position of an element of the result.
  Position positionAt(const TileOrigin &origin, Value row, Value column);
  /// The indices of the contraction's loops at an element of the result and a step of K.
  SmallVector<Index> loopsAt(const TileOrigin &origin, Value row, Value column, Value step);
  /// Whether K, and each block of the order, is a whole number of K tiles.
  bool hasWholeKTiles();

private:
  SmallVector<Value> batchSizes();
  Value stripHeight(Value rows, Value first);
  std::pair<Value, Value> tileInMatrix(Value number, Value rows, Value columns);

  Value m, n, k;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_TILEMAPPING_H
