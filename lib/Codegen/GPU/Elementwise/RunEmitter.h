// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code in which a thread has runs of neighbouring elements: what is contiguous along a run is read and
// written by 16 bytes at once, what is the same for all of it once. Each element is computed by scalar code
// of its own.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_RUNEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_RUNEMITTER_H

#include "../Generic/GenericEmitter.h"

namespace mlir::ad::device {

/// The most that a thread reads or writes at once.
constexpr int64_t kAccessBytes = 16;

/// The last axis that is longer than one: neighbours along it are neighbours in memory.
int64_t contiguousAxis(ArrayRef<int64_t> shape);

class RunEmitter : public GenericEmitter {
public:
  using GenericEmitter::GenericEmitter;

protected:
  /// The indices of `length` neighbours, of which the first is a multiple of the length.
  SmallVector<Value> runFrom(Value first, int64_t length);
  /// The longest run along the nest's contiguous axis that needs no access beyond kAccessBytes.
  int64_t runLength(const Nest &nest, int64_t axis);
  /// Whether addresses and sizes that only the run knows allow such runs; null when nothing is left to ask.
  Value allowsRuns(int64_t length);
  /// Code with runs where they are allowed, which null says of every run of the kernel, else code without.
  LogicalResult emitWhere(Value allowed, function_ref<LogicalResult()> withRuns,
                          function_ref<LogicalResult()> without);

  FailureOr<Value> compute(Value tensor, const Position &position) override;
  void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) override;
  /// The same from a buffer that has the axes of the tensor from `first` on.
  Value readFrom(const Buffer &buffer, int64_t first, Value tensor, const Position &position);

  /// A run from its first position on, which is one piece of memory.
  SmallVector<Value> loadRun(const Buffer &buffer, const Position &first, int64_t length);
  void storeRun(const Buffer &buffer, const Position &first, ValueRange values);

private:
  struct Member {
    size_t run = 0, place = 0;
  };
  std::optional<int64_t> runAxis(const Buffer &buffer, const Position &position);
  std::optional<int64_t> insertedRunAxis(tensor::InsertSliceOp insert, const Position &position);
  FailureOr<Value> computeInsertedRun(tensor::InsertSliceOp insert, const Position &position, int64_t axis);
  Value pieceAt(const Buffer &buffer, const Position &first, int64_t offset);

  SmallVector<SmallVector<Value>> runs;
  DenseMap<Value, Member> members; // of runs, by index
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ELEMENTWISE_RUNEMITTER_H
