// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shared by the files of this folder: patterns, models and the helpers that build linalg operations.

#ifndef ADJOINT_LIB_CONVERSION_ADTOLINALG_ADTOLINALG_H
#define ADJOINT_LIB_CONVERSION_ADTOLINALG_ADTOLINALG_H

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "adjoint/Interfaces/LinalgLoweringOpInterface.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {
/// Patterns that use interfaces only: elementwise operations, reductions, views, constants, and operations
/// with a model of LinalgLoweringOpInterface.
void populateInterfacesToLinalgPatterns(RewritePatternSet &patterns);

/// Patterns for loop nests and ordered writes.
void populateLoopNestsToLinalgPatterns(RewritePatternSet &patterns);

/// Models of LinalgLoweringOpInterface for operations of the `ad` dialect, by family (Models/).
void registerContractionModels(DialectRegistry &registry);
void registerCreationModels(DialectRegistry &registry);
void registerReductionModels(DialectRegistry &registry);
void registerShapeModels(DialectRegistry &registry);

/// The model of one operation: `Model` has a static `lower(OpT, OpBuilder &)`.
template <class Model, class OpT>
struct LoweringModel : LinalgLoweringOpInterface::ExternalModel<Model, OpT> {
  using Op = OpT;
  Value lowerToLinalg(Operation *op, OpBuilder &builder) const {
    return Model::lower(cast<OpT>(op), builder);
  }
};

template <class... Models> void registerLoweringModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ADDialect *) {
    (Models::Op::template attachInterface<Models>(*context), ...);
  });
}

/// An empty tensor with the type and sizes of `result`, an OpResult of an operation that can reify its shape.
Value emptyLike(OpBuilder &builder, Location loc, OpResult result);
/// The same with another element type.
Value emptyLike(OpBuilder &builder, Location loc, OpResult result, Type element);

/// linalg.generic with identity access to every operand, all dimensions parallel.
Value elementwiseGeneric(OpBuilder &builder, Location loc, ValueRange inputs, Value init,
                         function_ref<Value(OpBuilder &, ValueRange)> body);

/// `tensor` rounded to the element type of `result`; the tensor itself when it has that type.
Value roundTo(OpBuilder &builder, OpResult result, Value tensor);

/// linalg.fill of `init` with a scalar.
Value fillTensor(OpBuilder &builder, Location loc, Value init, Value scalar);

/// The value that loses against every other of the type: an infinity, or the end of the integers.
Value extremum(OpBuilder &builder, Location loc, Type type, bool smallest);

Value indexConstant(OpBuilder &builder, Location loc, int64_t value);
/// The size of an axis.
Value dimension(OpBuilder &builder, Location loc, Value tensor, int64_t axis);

/// The type in which values are combined: sums and products have an accumulator, largest and smallest values
/// are kept as they are (16- and 8-bit floats in f32, exactly).
Type combiningType(Combiner combiner, Type element);
/// What an empty reduction gives.
Value identityOf(OpBuilder &builder, Location loc, Combiner combiner, Type type);
/// acc and value combined, of floats or integers.
Value combineScalars(OpBuilder &builder, Location loc, Combiner combiner, Value acc, Value value);
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_ADTOLINALG_ADTOLINALG_H
