// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of 16-bit floats by `mma.sync` m16n8k16, whose accumulators are fragments.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMACODE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMACODE_H

#include "../AttentionCode.h"

namespace mlir::ad::device {

/// The accumulators of eight columns: two of the thread's first row, two of its second.
using Fragment = std::array<Value, 4>;
SmallVector<Value> flatten(ArrayRef<Fragment> fragments);
SmallVector<Fragment> fragmentsFrom(ValueRange all);

class MmaCode {
public:
  MmaCode(AttentionCode &code, Type element) : code(code), element(element) {}

  Fragment multiply(ArrayRef<Value> a, ArrayRef<Value> b, const Fragment &sums);
  /// Two numbers of a row as one register of an operand.
  Value pack(Value low, Value high);
  /// Of a number of columns.
  SmallVector<Fragment> zeros(int64_t columns);
  /// Rounds the sums of the thread's first or second row, and stores them as the row of that number (i64) of
  /// a tensor whose rows have so many elements.
  void store(Value tensor, Value number, int64_t length, ArrayRef<Fragment> sums, int64_t row);
  /// Of the thread: its two rows of those of all warps, and the first of its columns of a fragment (i32).
  Value rowOfThread(int64_t number);
  Value columnOfThread();

private:
  AttentionCode &code;
  const Type element;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMACODE_H
