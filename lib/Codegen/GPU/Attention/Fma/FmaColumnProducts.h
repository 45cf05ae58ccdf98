// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products by FMA of factors in shared memory, [rows, k], and of a tensor, [k, columns]: chains over k.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMACOLUMNPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMACOLUMNPRODUCTS_H

#include "../AttentionMemory.h"
#include "FmaGrid.h"

namespace mlir::ad::device {

class FmaColumnProducts {
public:
  struct Layout {
    int64_t length;                  ///< of a row of the tensor
    int64_t rowsOfThread;            ///< of the factors
    int64_t stride;                  ///< of the factors
    int64_t staged;                  ///< byte of shared memory where rows of the tensor are staged
    int64_t slice = FmaGrid::kSlice; ///< how many at once
  };
  FmaColumnProducts(AttentionCode &code, const FmaGrid &grid, AttentionMemory &memory, const Layout &layout);

  /// The sums of a thread: of each of its rows, all of its columns.
  int64_t sumCount() const { return layout.rowsOfThread * grid.columnsOfThread; }
  /// The row number k of the tensor: its number among all (i64), and whether there is one.
  struct Row {
    Value number, isThere;
  };
  struct Operands {
    int64_t factors; ///< byte of shared memory; behind `count` there is -0
    const AttentionMemory::Tensor &tensor;
    function_ref<Row(Value k)> row;
    Value count;       ///< of k (i32)
    Value firstColumn; ///< i64
  };
  /// Continues chains.
  SmallVector<Value> add(const Operands &operands, ValueRange sums);

  /// The row that a sum belongs to (i32).
  Value rowOfSum(int64_t number) { return rowOf(number / grid.columnsOfThread); }
  /// Its column from the first one on (i32).
  Value columnOfSum(int64_t number);

private:
  Value rowOf(int64_t number) {
    return code.add(code.binary<arith::MulIOp>(threadRow, layout.rowsOfThread), number);
  }
  void stage(const Operands &operands, Value first);
  SmallVector<Value> addSlice(int64_t factors, Value first, ValueRange sums);

  AttentionCode &code;
  const FmaGrid &grid;
  AttentionMemory &memory;
  const Layout layout;
  Value threadRow, threadColumn; // i32
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMACOLUMNPRODUCTS_H
