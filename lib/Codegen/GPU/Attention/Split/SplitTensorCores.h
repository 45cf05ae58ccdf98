// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of up to 16 rows by `mma.sync` of 16-bit floats. Rows are numbers in shared memory that the type
// has, the other operand is in shared memory as it is.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITTENSORCORES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITTENSORCORES_H

#include "../Mma/MmaCode.h"

namespace mlir::ad::device {

class SplitTensorCores {
public:
  SplitTensorCores(AttentionCode &code, Type element, int64_t rows)
      : code(code), mma(code, element), element(element), rows(rows) {}

  /// Of a fragment, which all warps have for themselves: the thread's row `number` of two, and the first of
  /// its two columns (i32).
  Value rowOfThread(int64_t number);
  Value columnOfThread() { return mma.columnOfThread(); }

  /// Rows from a byte on, so many numbers apart; elements from `k` on (i32).
  SmallVector<Value> rowsAt(int64_t byte, int64_t stride, Value k);
  /// Eight columns, each a row of memory from a byte on (i32), so many bytes apart; elements from `k` on
  /// (i32).
  SmallVector<Value> columnsAt(Value byte, int64_t pitch, Value k);
  /// Eight columns of rows of memory, from a byte on (i32), which are the elements of the sum.
  SmallVector<Value> transposedAt(Value byte, int64_t pitch);
  Fragment multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, const Fragment &sums) {
    return mma.multiply(rows, columns, sums);
  }

private:
  Value operandOf(Value word);
  Value at(Value byte) { return code.at(code.shared(0), code.builder.getI8Type(), byte); }

  AttentionCode &code;
  MmaCode mma;
  Type element;
  int64_t rows;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITTENSORCORES_H
