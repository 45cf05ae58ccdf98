// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What merging axes needs to know about operations that are not elementwise.

#ifndef ADJOINT_LIB_CONVERSION_ADTOLINALG_AXISMODELS_H
#define ADJOINT_LIB_CONVERSION_ADTOLINALG_AXISMODELS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Whether each element of the result is one of the first operand, whose axes are the last of the result.
bool repeatsOperand(Operation &op);
/// Whether the operation is a product that lists its axes.
bool isProductWithAxes(Operation &op);

/// The new numbers of axes of a value.
using NewAxes = function_ref<SmallVector<int64_t>(Value, ArrayRef<int64_t>)>;
/// The new dynamic sizes of a value that has these.
using NewSizes = function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)>;
/// Gives the operation the lists of axes and the sizes that it has after its axes are merged.
void renumberAxes(Operation &op, NewAxes axes, NewSizes sizes);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_ADTOLINALG_AXISMODELS_H
