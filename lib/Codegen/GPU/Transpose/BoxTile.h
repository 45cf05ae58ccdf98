// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles of transpositions that have any extents: all of an axis that is not much longer than a warp, a whole
// number of inner axes, a part of a long axis (decision 0062).

#ifndef ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_BOXTILE_H
#define ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_BOXTILE_H

#include "TransposeEmitter.h"

namespace mlir::ad::device {

/// The elements of a tile along axes of the result, from outer to inner ones: all of the inner axes, and a
/// part of the outermost one.
struct TileSide {
  SmallVector<int64_t> axes;
  int64_t inner = 1;    // elements along the inner axes
  int64_t part = 1;     // how many indices of the outermost axis
  bool isWhole = false; // the parts divide the axis
  int64_t threads = 1;  // adjacent ones for a line along this side; those after the last element are idle
  int64_t extent() const { return inner * part; }
};

struct BoxTile {
  explicit BoxTile(const Transposition &transposition);

  TileSide read, write;
  int64_t bytes;        // of an element
  int64_t elements = 1; // of a word: lines of short elements share the words of a bank
  int64_t threads;      // of a block
  int64_t pitch;        // words from one line along `write` to the next one in shared memory

  int64_t wordBytes() const { return elements * bytes; }
  int64_t sharedBytes() const { return read.extent() * pitch * wordBytes(); }

private:
  void chooseExtents(const Transposition &transposition, ArrayRef<int64_t> shape);
  void chooseThreads();
  void choosePitch();
  int64_t wordsOfLine() const;
  int64_t countConflicts() const;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_BOXTILE_H
