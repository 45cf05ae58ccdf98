// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The implementations that have names. Internal to ad-exchange-kernels.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_NAMEDKERNELS_IMPLEMENTATIONS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_NAMEDKERNELS_IMPLEMENTATIONS_H

#include "../Decompose/DecompositionSteps.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernels.h"

namespace mlir::ad {
/// A named kernel is the written implementation, another order of the written operation, or other operations.
struct Implementation {
  NamedKernel kernel;
  /// What the operation lacks; empty if the implementation covers it. Null: covers all.
  llvm::StringRef (*lacks)(Operation *) = nullptr;
  OrderAttr (*order)(MLIRContext *) = nullptr;
  /// The order is a tree with one total, which running reductions do not have.
  bool hasOneTotal = false;
  Value (*build)(Operation *, Steps &) = nullptr;
  /// What may go wrong with it; empty: nothing that does not go wrong with the written one.
  llvm::StringLiteral warning = "";
};

llvm::ArrayRef<Implementation> implementations();
/// The operation `name` sums, in an order that is written on it.
bool isSummingOperation(OperationName name);
/// Looks up the implementation `name` of operations `op`. Null if they have no implementation of this name.
const Implementation *findImplementation(OperationName op, llvm::StringRef name);
/// The names for the operation: `a, b or c`. Empty if it has none.
std::string implementationNames(OperationName op);

// Each builds the result of an operation from its operands.
Value buildWelfordLayerNorm(Operation *op, Steps &steps);
Value buildOnePassLayerNorm(Operation *op, Steps &steps);
Value buildUnshiftedSoftmax(Operation *op, Steps &steps);
Value buildOnlineSoftmax(Operation *op, Steps &steps);
Value buildUnshiftedLogSoftmax(Operation *op, Steps &steps);
Value buildOnlineLogSoftmax(Operation *op, Steps &steps);
Value buildTf32Contraction(Operation *op, Steps &steps);
Value buildBf16x3Contraction(Operation *op, Steps &steps);
Value buildBf16x6Contraction(Operation *op, Steps &steps);
Value buildBf16x9Contraction(Operation *op, Steps &steps);

/// A loop over the elements of `x` along `axis`, with carried tensors. `body` gets the column of one index,
/// which has size 1 along the axis, and the carried values, and returns the next ones.
SmallVector<Value>
loopAlongAxis(Steps &steps, Value x, int64_t axis, ValueRange start,
              llvm::function_ref<SmallVector<Value>(Value column, ValueRange carried)> body);
/// A tensor with the type and sizes of a column of such a loop, and one value everywhere.
Value columnOf(Steps &steps, Value x, int64_t axis, double value);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_NAMEDKERNELS_IMPLEMENTATIONS_H
