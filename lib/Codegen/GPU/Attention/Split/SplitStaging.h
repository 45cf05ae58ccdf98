// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows of keys or values in shared memory, as elements of their type: by `cp.async` where rows are multiples
// of 16 bytes, else one by one.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSTAGING_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSTAGING_H

#include "../AttentionMemory.h"

namespace mlir::ad::device {

class SplitStaging {
public:
  /// A box of rows, and where it goes.
  struct Box {
    const AttentionMemory::Tensor &tensor;
    int64_t rowLength;      ///< elements of a row of the tensor
    int64_t rows, elements; ///< of the box
    int64_t pitch;          ///< bytes from one row to the next in shared memory
  };
  SplitStaging(AttentionCode &code, int64_t threads) : code(code), threads(threads) {}

  /// Starts to copy the box to a byte of shared memory (i32). The first row is the row `firstRow` of the
  /// tensor (i64), of which there are `count` (i64); the first element (i64). All others are +0.
  void copy(const Box &box, Value target, Value firstRow, Value count, Value firstElement);
  void commit();
  /// Until all but the youngest `pending` groups have arrived, for all threads.
  void wait(int64_t pending);
  /// Adjacent elements at a byte of shared memory (i32), in the accumulator's type.
  SmallVector<Value> load(Type element, Value byte, int64_t count);

private:
  void copyChunks(const Box &box, Value target, Value firstRow, Value count, Value firstElement);
  void copyElements(const Box &box, Value target, Value firstRow, Value count, Value firstElement);
  Value at(Value byte) { return code.at(code.shared(0), code.builder.getI8Type(), byte); }

  AttentionCode &code;
  int64_t threads;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSTAGING_H
