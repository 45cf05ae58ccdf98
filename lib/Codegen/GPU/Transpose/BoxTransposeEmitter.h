// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions whose rows are not aligned, or whose axes fill no square tile. A thread block loads a
// BoxTile element by element, adjacent threads along the operand's contiguous axis, and stores it element by
// element along the result's. Each thread has elements at constant distances, and loads all of them before it
// waits for the first one.

#ifndef ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_BOXTRANSPOSEEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_BOXTRANSPOSEEMITTER_H

#include "BoxTile.h"

namespace mlir::ad::device {

class BoxTransposeEmitter : public GPUKernelEmitter {
public:
  BoxTransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Transposition &transposition);

  int64_t minBlocksPerSM() const override { return kThreadsPerSM / tile.threads; }

private:
  static constexpr int64_t kThreadsPerSM = 1024; // so that each has 64 registers

  /// The lines of a tile in one of the two tensors: a thread has an element of each `step`-th line, or the
  /// adjacent elements of several lines that share a word.
  struct Lines {
    const TileSide &along, &across;
    const Buffer &buffer;
    SmallVector<Value> strides; // of the axes of the result
    int64_t together = 1;       // lines that share a word
    int64_t step;               // words
    Value place, first;         // of the thread: in its line, and the number of its first word
    int64_t count() const { return llvm::divideCeil(across.extent(), step * together); }
  };
  /// The same in a tile.
  struct Moved {
    const Lines &lines;
    Value start; // in memory, of the element in the first line
    Value limit; // lines that are in the tensor, 0 for idle threads; null if every thread has all its lines
  };

  LogicalResult emitOutputs() override;
  void describeLaunch();
  SmallVector<Value> stridesOf(const Buffer &buffer, ArrayRef<int64_t> axes);
  Lines linesOf(const TileSide &along, const TileSide &across, const Buffer &buffer, ArrayRef<int64_t> axes,
                int64_t together);
  Value tilesAlong(int64_t axis);
  SmallVector<Value> originAt(Value number);
  Moved moved(const Lines &lines, ArrayRef<Value> origin);
  Value limitAlong(const TileSide &side, ArrayRef<Value> origin);
  Value offsetOf(const TileSide &side, ArrayRef<Value> strides, Value number);
  Value firstLine(const Lines &lines);
  /// Code that moves the lines of a thread, of which those with numbers from `whole` on may be missing.
  using LineCode = function_ref<void(int64_t whole)>;
  LogicalResult overLines(const Moved &moved, LineCode code);
  Value distanceTo(const Lines &lines, int64_t number, int64_t part = 0);
  Value isThere(const Moved &moved, Value distance);
  Value addressInMemory(const Moved &moved, Value distance);
  Value addressInTile(Value readNumber, Value writeNumber, int64_t bytes);
  Value loadWord(const Moved &moved, int64_t whole, int64_t number);
  LogicalResult readTile(const Moved &moved);
  LogicalResult writeTile(const Moved &moved);

  const Transposition transposition;
  const BoxTile tile;
  Type memory; // of an element
  Value shared;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_BOXTRANSPOSEEMITTER_H
