// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Refusals.h"
#include "TensorCode.h"
#include "adjoint/Transforms/UnsupportedForms.h"

using namespace mlir;
using namespace mlir::ad;

LogicalResult Refusals::verifyTypes(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!isImported(type))
      return add(op, "has a value of type " + printed(type) + "; expected ranked tensors or scalars of " +
                         kImportedElements);
  return success();
}

LogicalResult Refusals::verifyForm(Operation *op) {
  std::string problem = findUnsupportedForm(op);
  return problem.empty() ? success() : add(op, problem);
}

void Refusals::report() const {
  auto locationOf = [](const auto &reason) { return Location(cast<LocationAttr>(reason.first)); };
  InFlightDiagnostic error = emitError(locationOf(reasons.front()), reasons.front().second);
  for (const auto &reason : llvm::drop_begin(reasons))
    error.attachNote(locationOf(reason)) << "also refused: " << reason.second;
}
