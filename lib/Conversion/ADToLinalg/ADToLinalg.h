// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shared by the files of this folder: the rewrite patterns by family and the helpers that build linalg
// operations.

#ifndef ADJOINT_LIB_CONVERSION_ADTOLINALG_ADTOLINALG_H
#define ADJOINT_LIB_CONVERSION_ADTOLINALG_ADTOLINALG_H

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {
void populateElementwiseToLinalgPatterns(RewritePatternSet &patterns);
void populateShapeToLinalgPatterns(RewritePatternSet &patterns);
void populateContractionToLinalgPatterns(RewritePatternSet &patterns);
void populateReductionToLinalgPatterns(RewritePatternSet &patterns);

/// An empty tensor with the type and sizes of `result`, an OpResult of an operation that can reify its shape.
Value emptyLike(OpBuilder &builder, Location loc, OpResult result);
/// The same with another element type.
Value emptyLike(OpBuilder &builder, Location loc, OpResult result, Type element);

/// linalg.generic with identity access to every operand, all dimensions parallel.
Value elementwiseGeneric(OpBuilder &builder, Location loc, ValueRange inputs, Value init,
                         function_ref<Value(OpBuilder &, ValueRange)> body);

/// linalg.fill of `init` with a scalar.
Value fillTensor(OpBuilder &builder, Location loc, Value init, Value scalar);
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_ADTOLINALG_ADTOLINALG_H
