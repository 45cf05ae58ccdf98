// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

bool codegen::isExpensive(linalg::GenericOp generic) {
  return llvm::any_of(*generic.getBlock(), [](Operation &op) {
    return isa<ElementaryOp, arith::DivFOp, arith::RemFOp, math::SqrtOp>(op);
  });
}

int64_t Nest::laneAxis() const {
  int64_t laneAxis = -1;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1)
      laneAxis = axis;
  return laneAxis;
}
