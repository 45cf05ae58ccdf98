// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions on a GPU. Tiles go through shared memory, so that both the operand and the result are
// touched in pieces of 16 bytes along their own contiguous axes. A tile has lines of 128 bytes in eight
// chunks, whose places are permuted from line to line: neither writing nor reading it meets a bank twice.

#ifndef ADJOINT_LIB_CONVERSION_EMITGPU_TRANSPOSEEMITTER_H
#define ADJOINT_LIB_CONVERSION_EMITGPU_TRANSPOSEEMITTER_H

#include "RunEmitter.h"

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
  SmallVector<Value> loadChunk(const Tile &tile, Value line, Value first);
  void storeChunk(const Tile &tile, Value line, Value first, ValueRange values);
  Position inside(const Tile &tile, Value down, Value across);
  Value isInside(const Position &position);
  void packWords(Value line, Value chunk, ArrayRef<SmallVector<Value>> lines);
  Value placeOf(Value line, Value chunk, Value byte);

  const Transposition moved;
  int64_t bytes = 0; // of an element
  int64_t length;    // elements of a chunk
  int64_t words;     // lines of the operand whose elements make a word
  int64_t side;      // of a tile
  Value shared;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CONVERSION_EMITGPU_TRANSPOSEEMITTER_H
