// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions on a GPU. Tiles go through shared memory, so that both the operand and the result are
// touched along their own contiguous axes, in pieces of 16 bytes or of what every line has whole numbers of.
// A tile has lines of 128 bytes, whose words are permuted from line to line: writing it meets no bank twice.

#ifndef ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_TRANSPOSEEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_TRANSPOSEEMITTER_H

#include "../Elementwise/RunEmitter.h"

namespace mlir::ad::device {

/// Axes of the result: along `down` the operand is contiguous, along `across` the result.
struct Transposition {
  linalg::GenericOp op;
  int64_t down, across;
};

/// Or nothing, and the reason.
std::optional<Transposition> matchTransposition(KernelOp kernel, std::string &reason);

class TransposeEmitter : public RunEmitter {
public:
  TransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Transposition &moved);

private:
  /// A tile of the result, and how many neighbours may be read and written at once.
  struct Tile {
    Position corner;
    int64_t readLength, writeLength;
  };

  LogicalResult emitRoots() override;
  LogicalResult emitTiles(int64_t readLength, int64_t writeLength);
  int64_t longestPiece(int64_t axis);
  Value tilesAlong(int64_t axis);
  Tile tileAt(Value number);
  LogicalResult readTile(const Tile &tile);
  LogicalResult writeTile(const Tile &tile);
  using PieceCode = function_ref<void(Value line, Value first)>;
  LogicalResult forPieces(int64_t length, int64_t lines, PieceCode code);
  SmallVector<Value> loadPiece(const Tile &tile, Value line, Value first);
  SmallVector<Value> loadPacked(const Tile &tile, Value line, Value first);
  void packWords(const Tile &tile, Value line, Value first, ArrayRef<SmallVector<Value>> lines);
  Position inside(const Tile &tile, Value down, Value across);
  Value isInside(const Position &position);
  int64_t wordsTogether(const Tile &tile);
  Value placeOf(const Tile &tile, Value line, Value byte);

  const Transposition moved;
  int64_t bytes = 0; // of an element
  int64_t length;    // elements of the longest piece
  int64_t wordBytes; // of an element, or of those of several lines that go to a bank together
  int64_t side;      // of a tile
  Value shared;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_TRANSPOSEEMITTER_H
