// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaColumnProducts.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FmaColumnProducts::FmaColumnProducts(AttentionCode &code, const FmaGrid &grid, AttentionMemory &memory,
                                     const Layout &layout)
    : code(code), grid(grid), memory(memory), layout(layout) {
  threadRow = code.binary<arith::DivUIOp>(code.thread, FmaGrid::kSide);
  threadColumn = code.binary<arith::RemUIOp>(code.thread, FmaGrid::kSide);
}

// Columns of a thread are vectors; between two of them are the vectors of all other threads.
Value FmaColumnProducts::columnOfSum(int64_t number) {
  int64_t vector = grid.columnVector(), inThread = number % grid.columnsOfThread;
  int64_t first = inThread / vector * vector * FmaGrid::kSide + inThread % vector;
  return code.add(code.binary<arith::MulIOp>(threadColumn, vector), first);
}

// What is not there is +0, and -0 times it changes no sum.
void FmaColumnProducts::stage(const Operands &operands, Value first) {
  code.forEach(layout.slice * grid.columns(), FmaGrid::kThreads, [&](Value number) {
    Row row = operands.row(code.add(first, code.binary<arith::DivUIOp>(number, grid.columns())));
    Value column = code.binary<arith::RemUIOp>(number, grid.columns());
    column = code.add(operands.firstColumn, code.resized(column, 64));
    Value isThere = code.binary<arith::AndIOp>(row.isThere, code.isBelow(column, code.i64(layout.length)));
    Value element = code.add(code.binary<arith::MulIOp>(row.number, layout.length), column);
    Value loaded = memory.loadWide(operands.tensor, code.select(isThere, element, code.i64(0)));
    code.store(code.shared(layout.staged), number, code.select(isThere, loaded, code.real(0)));
  });
}

SmallVector<Value> FmaColumnProducts::addSlice(int64_t factors, Value first, ValueRange sums) {
  int64_t vector = grid.columnVector();
  return code.loop(code.i32(0), code.i32(layout.slice), code.i32(FmaGrid::kVector), sums,
                   [&](Value step, ValueRange before) {
                     SmallVector<SmallVector<Value>> rows;
                     for (int64_t i = 0; i < layout.rowsOfThread; ++i) {
                       Value place = code.binary<arith::MulIOp>(rowOf(i), layout.stride);
                       place = code.add(place, code.add(first, step));
                       rows.push_back(code.loadVector(code.shared(factors), place, FmaGrid::kVector));
                     }
                     SmallVector<Value> next(before);
                     for (int64_t k = 0; k < FmaGrid::kVector; ++k) {
                       Value ofStep = code.binary<arith::MulIOp>(code.add(step, k), grid.columns());
                       SmallVector<Value> columns;
                       for (int64_t j = 0; j < grid.columnsOfThread; j += vector)
                         llvm::append_range(columns,
                                            code.loadVector(code.shared(layout.staged),
                                                            code.add(ofStep, columnOfSum(j)), vector));
                       for (auto [i, row] : llvm::enumerate(rows))
                         for (auto [j, column] : llvm::enumerate(columns)) {
                           Value &sum = next[i * columns.size() + j];
                           sum = code.fma(row[k], column, sum);
                         }
                     }
                     return next;
                   });
}

SmallVector<Value> FmaColumnProducts::add(const Operands &operands, ValueRange sums) {
  return code.loop(code.i32(0), operands.count, code.i32(layout.slice), sums,
                   [&](Value first, ValueRange before) {
                     code.synchronize();
                     stage(operands, first);
                     code.synchronize();
                     return addSlice(operands.factors, first, before);
                   });
}
