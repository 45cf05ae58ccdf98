// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The observer that reads the queue.
#include "FusionResults.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Diff/Record.h"

using namespace mlir;
using namespace mlir::ad::runner;

int32_t FusionResults::replaceResults(Operation *op, MutableArrayRef<reference::Tensor> results) {
  if (!isa<FusionOp>(op))
    return ADRT_OK;
  for (reference::Tensor &result : results) {
    std::optional<reference::Tensor> actual = queue.pop();
    if (!actual) {
      ended = true;
      return ADRT_INTERRUPTED;
    }
    if (actual->getType() != result.getType() || actual->getShape() != result.getShape()) {
      mismatch = true;
      return ADRT_INTERRUPTED;
    }
    different += diff::contentHash(actual->view()) != diff::contentHash(result.view());
    result = std::move(*actual);
  }
  return ADRT_OK;
}
