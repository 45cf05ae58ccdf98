// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions with a short contiguous axis, such as pairs and colours: most of a tile in shared memory
// would be empty. Each thread moves all elements along the short axis, for one or more neighbours along the
// axis that is contiguous in the other tensor, through its registers.

#ifndef ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_SHORTTRANSPOSEEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_SHORTTRANSPOSEEMITTER_H

#include "TransposeEmitter.h"

namespace mlir::ad::device {

/// Whether one of the two tensors has a short, static contiguous axis (or several that are short together).
bool hasShortAxis(const Transposition &transposition);

class ShortTransposeEmitter : public TransposeEmitter {
public:
  ShortTransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Transposition &transposition);

private:
  LogicalResult emitOutputs() override;
  int64_t runLength() const;
  Position originOf(Value number);
  Position positionAt(const Position &origin, int64_t neighbour, int64_t along);
  void moveElements(const Position &origin);

  bool readsShort;                       // the operand has the short axis, else the result
  ArrayRef<int64_t> shortAxes, longAxes; // the latter are contiguous in the other tensor
  int64_t count, run;                    // elements along the short axes; neighbours of a thread
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_TRANSPOSE_SHORTTRANSPOSEEMITTER_H
