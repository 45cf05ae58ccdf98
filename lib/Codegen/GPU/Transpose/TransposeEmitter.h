// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions of short elements on a GPU, in vectors, staged in shared memory: a thread block loads a tile
// with coalesced accesses along the operand's contiguous axis, and stores it with coalesced accesses along
// the result's. A row of the tile has 128 bytes. Its words are XOR-swizzled by the number of the row, so that
// writes of a warp meet no bank twice. BoxTransposeEmitter moves what is not aligned, and longer elements,
// whose single accesses are as fast.

#ifndef ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_TRANSPOSEEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_TRANSPOSEEMITTER_H

#include "../Generic/GPUKernelEmitter.h"

namespace mlir::ad::device {

/// Axes of the result, from outer to inner ones: the operand is contiguous along `readAxes`, the result along
/// `writeAxes`. Several are one axis of a tile where the inner ones are short; no axis is in both.
struct Transposition {
  linalg::GenericOp op;
  SmallVector<int64_t> readAxes, writeAxes;
};

/// Nothing, and the reason, for other kernels.
std::optional<Transposition> matchTransposition(KernelOp kernel, std::string &reason);

/// Whether the elements are short, and accesses of kAccessBytes divide the rows of both tensors, which fill
/// tiles.
bool hasAlignedRows(const Transposition &transposition);

class TransposeEmitter : public GPUKernelEmitter {
public:
  TransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Transposition &transposition);

protected:
  bool isAlong(int64_t axis) const;
  Value sizeAlong(ArrayRef<int64_t> axes);
  void setIndices(Position &position, ArrayRef<int64_t> axes, Value index);
  /// Contiguous elements of the operand, from the one that becomes the element at the position of the result.
  SmallVector<Value> loadOperand(const Position &position, int64_t count);

  const Transposition transposition;
  int64_t length; // elements of the widest access

private:
  /// A tile of the result: where it begins along both kinds of axes and along the others.
  struct Tile {
    Position origin;
    Value read, write;
  };

  LogicalResult emitOutputs() override;
  LogicalResult emitTiles();
  Value tilesAlong(ArrayRef<int64_t> axes);
  Tile tileAt(Value number);
  LogicalResult readTile(const Tile &tile);
  LogicalResult writeTile(const Tile &tile);
  using VectorCode = function_ref<void(Value row, Value first)>;
  LogicalResult forVectors(int64_t rows, VectorCode code);
  SmallVector<Value> loadVectorOf(const Tile &tile, Value row, Value first);
  SmallVector<Value> loadStaged(Value row, Value first);
  void storeStaged(Value row, Value first, ArrayRef<SmallVector<Value>> vectors);
  Position positionAt(const Tile &tile, Value read, Value write);
  Value isInside(const Tile &tile, Value read, Value write);
  int64_t wordsPerWarpRow();
  Value stagedAddress(Value row, Value byte);

  int64_t bytes = 0; // of an element
  int64_t wordBytes; // of several rows' elements that share a bank
  int64_t side;      // of a tile, in elements
  Value shared;      // the tile
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_TRANSPOSEEMITTER_H
