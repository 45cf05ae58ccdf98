// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Insertions into results whose rows have a few elements: rows are computed and stored whole.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_COLUMNINSERTS_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_COLUMNINSERTS_H

#include "../../Kernel/Outputs/InsertEmitter.h"
#include "../Loops/LoopNests.h"

namespace mlir::ad::cpu {

class ColumnInserts : public InsertEmitter {
public:
  ColumnInserts(CPUContext &context, ValueSource &values, KernelArguments &arguments, Hoisting &hoisting,
                KernelOutputs &outputs, ScanEmitter &scans, LoopNests &loopNests, ElementStores &stores,
                ShortRows &shortRows)
      : InsertEmitter(context, values, arguments, hoisting, outputs, scans, loopNests, stores),
        loopNests(loopNests), shortRows(shortRows) {}

  /// Emits the insertion with all columns of its rows in the destination if rows can be stored whole, else by
  /// itself.
  LogicalResult emitInsert(tensor::InsertSliceOp insert, const Buffer &destination,
                           const AxisRange &range) override;

private:
  bool isInsertedByColumn(tensor::InsertSliceOp insert, const AxisRange &range);
  int64_t rowsOfSlice(tensor::InsertSliceOp insert);
  LogicalResult emitInsertByColumn(tensor::InsertSliceOp insert, const Buffer &destination,
                                   const AxisRange &range);
  FailureOr<Value> valueOfColumn(tensor::InsertSliceOp insert, const Position &position,
                                 const Position &target);

  LoopNests &loopNests;
  ShortRows &shortRows;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_COLUMNINSERTS_H
