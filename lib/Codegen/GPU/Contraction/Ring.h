// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How a thread that copies ahead and the warpgroups that read what it copied agree about shared memory. It
// knows nothing of what lies there.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_RING_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_RING_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::device {

/// Stages of shared memory through which pieces go in order: piece n lies in stage n modulo their number. A
/// stage is filled again when every reader has released it. For each stage an mbarrier says that it is full,
/// and another one that it is empty. Blocks of a cluster that fill stages of each other have rings of the
/// same shape and pieces: a stage is then empty when it is in all of them.
class Ring {
public:
  struct Shape {
    int64_t stages;
    int64_t bytes;    // of a stage
    int64_t readers;  // warpgroups
    int64_t barriers; // bytes from the first stage to the mbarriers
    int64_t cluster;  // blocks
  };
  /// Code goes where `builder` is; `memory` points to the first stage.
  Ring(OpBuilder &builder, Location loc, Value memory, const Shape &shape)
      : builder(builder), loc(loc), memory(memory), shape(shape) {}

  /// What the mbarriers take.
  static int64_t barrierBytes(int64_t stages);
  /// By one thread, before the others go on.
  void initialize();
  /// The address of a byte of the piece's stage.
  Value pointerTo(Value piece, Value byte);

  /// Waits until the stage may be filled, and announces all bytes of it. Returns the mbarrier to which the
  /// copies of the piece report.
  Value startFilling(Value piece);
  /// Waits until the piece is there.
  void awaitFull(Value piece);
  /// By one thread of each reader for each block of the cluster, whose number is `block`, when nothing of the
  /// reader reads the piece any more.
  void release(Value piece, Value block);

private:
  Value index(int64_t value);
  Value pointerAt(Value byte);
  Value barrierOf(Value piece, int64_t first);
  Value roundOf(Value piece, int64_t shift);
  void wait(Value barrier, Value parity);

  OpBuilder &builder;
  Location loc;
  Value memory;
  const Shape shape;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_RING_H
