// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-expand-scalar-ops`: elementary functions and conversions become arith operations.

#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Numerics/EmitCasts.h"
#include "adjoint/Numerics/EmitElementary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ad {
#define GEN_PASS_DEF_EXPANDSCALAROPSPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Both enumerations have the same numbering (Elementary.h).
static numerics::Elementary numericsFunction(ElementaryFunction function) {
  return static_cast<numerics::Elementary>(function);
}

namespace {
class ExpandScalarOpsPass : public ad::impl::ExpandScalarOpsPassBase<ExpandScalarOpsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<ElementaryOp, ConvertOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Value value;
      auto elementary = dyn_cast<ElementaryOp>(op);
      if (elementary && elementary.getApproximate())
        value = numerics::emitApproximation(builder, op->getLoc(), numericsFunction(elementary.getFunction()),
                                            elementary.getInputs().front());
      else if (elementary)
        value = numerics::emitElementary(builder, op->getLoc(), numericsFunction(elementary.getFunction()),
                                         elementary.getInputs());
      else
        value = numerics::emitCast(builder, op->getLoc(), op->getOperand(0),
                                   getElementTypeOrSelf(op->getResult(0)));
      op->replaceAllUsesWith(ValueRange(value));
      op->erase();
    }
  }
};
} // namespace
