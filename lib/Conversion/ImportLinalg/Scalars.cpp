// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of arith and math on tensors, and functions of single numbers that the host program does not
// have: they are computed on tensors of rank 0.

#include "Importer.h"
#include "RaiseScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

static bool isTensorValue(Value value) { return isa<RankedTensorType>(value.getType()); }

LogicalResult Importer::importScalarOp(Operation *op) {
  if (failed(refusals.verifyTypes(op)) || failed(refusals.verifyForm(op)))
    return failure();
  TensorCode code = codeFor(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<ElementsAttr>(constant.getValue());
    if (!elements)
      return refusals.add(op, "has a value that is no list of elements");
    return replace(op, code, ConstantOp::create(rewriter, code.loc, elements));
  }
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value x) { return isTensorValue(x) ? x : code.ofScalar(x); });
  SmallVector<Value> results = raiseScalarOp(code, op, operands);
  if (results.size() != op->getNumResults())
    return refusals.addScalarCode(op);
  for (auto [result, made] : llvm::zip_equal(op->getResults(), results)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    made = type ? code.withType(made, type) : code.toScalar(made, result.getType());
  }
  rewriter.replaceOp(op, results);
  return success();
}
