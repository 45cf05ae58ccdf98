// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Evaluation of reductions of constants, and the loops of reductions.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_REDUCTION_H
#define ADJOINT_LIB_DIALECT_AD_IR_REDUCTION_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {
enum class ReductionKind { sum, product, maximum, minimum, mean };

/// The reduction of a constant as the specification says, in the written order. Null when the operand is no
/// constant or a large one, or when the order of a sum is not written yet.
Attribute evaluateReduction(ReductionKind kind, Attribute input, ArrayRef<int64_t> axes, OrderAttr order,
                            RankedTensorType result);

/// The loops of a reduction: the axes that it keeps in their order, then those that it reduces.
SmallVector<utils::IteratorType> iteratorsOfReduction(int64_t rank, ArrayRef<int64_t> axes);
/// Which elements of the input and of the result an iteration accesses.
SmallVector<AffineMap> accessesOfReduction(MLIRContext *context, int64_t rank, ArrayRef<int64_t> axes,
                                           bool keepDims);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_REDUCTION_H
