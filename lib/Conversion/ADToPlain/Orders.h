// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Orders of sums as code of upstream's dialects.

#ifndef ADJOINT_LIB_CONVERSION_ADTOPLAIN_ORDERS_H
#define ADJOINT_LIB_CONVERSION_ADTOPLAIN_ORDERS_H

#include "KernelBody.h"
#include "adjoint/Conversion/PlainLinalg.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad::plain {

/// Lowers a running reduction in nested chains to loops. Fails if it is one chain, which linalg already says.
LogicalResult lowerScan(linalg::GenericOp scan, const ReductionStructure &structure,
                        PatternRewriter &rewriter);

} // namespace mlir::ad::plain

#endif // ADJOINT_LIB_CONVERSION_ADTOPLAIN_ORDERS_H
