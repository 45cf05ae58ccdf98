// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows of 16-bit floats in shared memory: the chunk c of 16 bytes of row r is at chunk c ^ (r % 8).
// `cp.async` copies rows, and `ldmatrix` loads fragments of `mma.sync` from them without bank conflicts.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_SWIZZLEDROWS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_SWIZZLEDROWS_H

#include "../AttentionCode.h"

namespace mlir::ad::device {

class SwizzledRows {
public:
  /// Copied by so many threads.
  SwizzledRows(AttentionCode &code, Type element, int64_t threads)
      : code(code), element(element), threads(threads) {}

  /// Bytes from one row of so many elements to the next.
  static int64_t pitchOf(int64_t elements);

  struct Place {
    Value row, chunk, number; ///< of 16 bytes: the number among all of the rows (i32)
  };
  /// The chunks of rows of so many elements that the thread has.
  void forEachChunk(int64_t rows, int64_t elements, function_ref<void(const Place &)> body);
  /// Copies a chunk from its address, to rows with that address. Of `bytes` (i32) only the first ones are
  /// read, and others are 0; null: all are.
  void copy(Value rows, int64_t pitch, const Place &place, Value source, Value bytes);

  /// Four registers, A of a product: 16 rows of each warp, and elements from `k` on.
  SmallVector<Value> loadA(Value rows, int64_t pitch, int64_t k);
  /// Four registers, B of two products: 16 rows as columns, and elements from `k` on.
  SmallVector<Value> loadB(Value rows, int64_t pitch, int64_t k);
  /// The same of 16 elements from `column` on as columns: steps are rows.
  SmallVector<Value> loadTransposedB(Value rows, int64_t pitch, int64_t column);

private:
  std::pair<Value, Value> matrixOfThread();
  SmallVector<Value> load(Value rows, int64_t pitch, Value row, Value chunk, int64_t evenChunk,
                          bool transposes);

  AttentionCode &code;
  const Type element;
  const int64_t threads;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_SWIZZLEDROWS_H
