// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One file for each dialect: how its operations become those of `ad`. Each function gets an operation on
// tensors, replaces it, or remembers why it does not.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_IMPORTER_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_IMPORTER_H

#include "BodyRaiser.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {
class Importer {
public:
  Importer(MLIRContext *context, Refusals &refusals) : rewriter(context), refusals(refusals) {}

  /// Replaces the operation if it needs to be.
  void import(Operation *op);

private:
  // Linalg.cpp and Generic.cpp
  LogicalResult importLinalg(Operation *op);
  LogicalResult importGeneric(linalg::GenericOp op, TensorCode code);
  // Tensors.cpp: those that move data
  LogicalResult importTensor(Operation *op);
  // TensorsOfScalars.cpp: those that make tensors of scalars
  LogicalResult importMaker(Operation *op);
  // Scalars.cpp: arith and math on tensors, and functions of scalars that the host program does not have
  LogicalResult importScalarOp(Operation *op);

  /// For the operations that replace `op`.
  TensorCode codeFor(Operation *op) {
    rewriter.setInsertionPoint(op);
    return TensorCode(rewriter, rememberWritten(op));
  }
  /// Replaces the result of `op`, in its type.
  LogicalResult replace(Operation *op, TensorCode code, Value value) {
    rewriter.replaceOp(op, code.withType(value, cast<RankedTensorType>(op->getResult(0).getType())));
    return success();
  }

  IRRewriter rewriter;
  Refusals &refusals;
};

/// Whether the operation is one that Importer replaces.
bool needsImport(Operation *op);

// Of a module, before its operations are imported.

/// Control flow that the host program does not have becomes that which it has: scf.forall, scf.index_switch,
/// scf.execute_region, branches between blocks, cf.assert, calls of constants.
void importControlFlow(ModuleOp module, Refusals &refusals);
bool hasForeignControlFlow(Operation *op);

/// Tensors of index become tensors of i64, in signatures too.
void importIndexTensors(ModuleOp module);
bool hasIndexTensor(Operation *op);
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_IMPORTER_H
