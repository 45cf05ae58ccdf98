// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The statements of one result: slices that are inserted one after another (concatenations and paddings),
// running reductions, and values that need neither.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_INSERTEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_INSERTEMITTER_H

#include "../Reduction/ScanEmitter.h"
#include "../Values/Hoisting.h"
#include "KernelOutputs.h"
#include "StatementLoops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad::codegen {

/// Whether consecutive elements of the slice along the axis are consecutive in the destination.
bool isUnitStride(tensor::InsertSliceOp insert, int64_t axis);

/// Whether the slice has all elements of the destination along the axis, as far as types and attributes say.
bool fills(tensor::InsertSliceOp insert, int64_t axis);

/// For any operation on slices: whether the slice, of type `part`, has all elements of the whole tensor, of
/// type `whole` and the same rank, along the axis.
bool fills(OffsetSizeAndStrideOpInterface slice, RankedTensorType part, RankedTensorType whole, int64_t axis);

class InsertEmitter : public KernelComponent {
public:
  InsertEmitter(KernelContext &context, ValueSource &values, KernelArguments &arguments, Hoisting &hoisting,
                KernelOutputs &outputs, ScanEmitter &scans, StatementLoops &nests, ElementStores &stores)
      : KernelComponent(context), values(values), arguments(arguments), hoisting(hoisting), outputs(outputs),
        scans(scans), nests(nests), stores(stores) {}
  virtual ~InsertEmitter() = default;

  /// Stores the elements of one result that are in the range.
  LogicalResult emitRange(Value output, const Buffer &destination, const AxisRange &range);
  virtual LogicalResult emitInsert(tensor::InsertSliceOp insert, const Buffer &destination,
                                   const AxisRange &range);

protected:
  StatementNest nestOfSource(tensor::InsertSliceOp insert, const AxisRange &range);
  FailureOr<Position> insertedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> position);

  ValueSource &values;
  KernelArguments &arguments;
  Hoisting &hoisting;
  KernelOutputs &outputs;
  ScanEmitter &scans;
  StatementLoops &nests;
  ElementStores &stores;

private:
  LogicalResult emitBorder(tensor::InsertSliceOp insert, const Buffer &destination, const AxisRange &range);
  LogicalResult emitPartOf(Value filled, ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                           const Buffer &destination, const AxisRange &range);
  Value numberOf(OpFoldResult number);
  AxisRange rangeOfSource(tensor::InsertSliceOp insert, const Nest &source, const AxisRange &range);
  int64_t firstContiguousAxis(tensor::InsertSliceOp insert, const AxisRange &range);
  void mergeAxes(StatementNest &nest, tensor::InsertSliceOp insert, int64_t first);
  Position mergedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> outer, ArrayRef<Value> extents,
                          Value start, const Index &index);
  LogicalResult emitContiguousInsert(tensor::InsertSliceOp insert, int64_t first, const Buffer &destination,
                                     const AxisRange &range);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_INSERTEMITTER_H
