// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The body of a linalg.generic as scalar code at any place, and tensors that are made for it.

#ifndef ADJOINT_LIB_CONVERSION_ADTOPLAIN_KERNELBODY_H
#define ADJOINT_LIB_CONVERSION_ADTOPLAIN_KERNELBODY_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ad::plain {

/// The order of the fusion or kernel around the operation; null for one chain.
OrderAttr orderOfKernel(linalg::GenericOp generic);

/// The value of an index expression over loops.
Value indexValue(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange loops);

/// Clones the operations of the body that `mapping` has no results of. `linalg.index` becomes a value of
/// `loops`. The inputs, but not the outs, are read at `loops` where `mapping` has none.
void cloneBody(OpBuilder &builder, linalg::GenericOp generic, ValueRange loops, IRMapping &mapping);

/// A linalg.generic over all elements of a new tensor, whose inputs have its shape.
Value makePointwise(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<OpFoldResult> shape,
                    Type element, function_ref<Value(OpBuilder &, ValueRange)> body);

} // namespace mlir::ad::plain

#endif // ADJOINT_LIB_CONVERSION_ADTOPLAIN_KERNELBODY_H
