// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-expand-scalar-ops`: elementary functions and conversions become arith operations.

#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Numerics/EmitCasts.h"
#include "adjoint/Numerics/EmitElementary.h"
#include "adjoint/Numerics/EmitRemainder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-expand-scalar-ops"

namespace mlir::ad {
#define GEN_PASS_DEF_EXPANDSCALAROPSPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
class ExpandScalarOpsPass : public ad::impl::ExpandScalarOpsPassBase<ExpandScalarOpsPass> {
public:
  using ExpandScalarOpsPassBase::ExpandScalarOpsPassBase;

private:
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      bool isRemainder = isa<arith::RemFOp>(op) && !isa<VectorType>(op->getResult(0).getType());
      if (isa<ElementaryOp, ConvertOp>(op) || (remainders && isRemainder))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      LDBG() << "expands " << *op;
      OpBuilder builder(op);
      op->replaceAllUsesWith(ValueRange(expand(builder, op)));
      op->erase();
    }
    getOperation()->walk([](::mlir::gpu::GPUFuncOp function) {
      function.walk([](vector::ReductionOp any) { joinConditions(any); });
    });
  }

  // GPUs have a register for each condition. LLVM would pack those of a vector into the bits of an integer.
  static void joinConditions(vector::ReductionOp any) {
    if (any.getKind() != vector::CombiningKind::OR || !any.getType().isInteger(1) || any.getAcc())
      return;
    OpBuilder builder(any);
    Value joined;
    for (int64_t i = 0; i < any.getSourceVectorType().getNumElements(); ++i) {
      Value condition = vector::ExtractOp::create(builder, any.getLoc(), any.getVector(), i);
      joined =
          joined ? arith::OrIOp::create(builder, any.getLoc(), joined, condition).getResult() : condition;
    }
    any.replaceAllUsesWith(joined);
    any.erase();
  }

  Value expand(OpBuilder &builder, Operation *op) {
    Location loc = op->getLoc();
    if (isa<arith::RemFOp>(op))
      return numerics::emitRemainder(builder, loc, op->getOperand(0), op->getOperand(1));
    auto elementary = dyn_cast<ElementaryOp>(op);
    if (!elementary)
      return numerics::emitCast(builder, loc, op->getOperand(0), getElementTypeOrSelf(op->getResult(0)),
                                {halfInstructions, bfloatInstructions, bytesByHalf});
    if (elementary.getApproximate())
      return numerics::emitApproximation(builder, loc, elementary.getFunction(),
                                         elementary.getInputs().front());
    return numerics::emitElementary(builder, loc, elementary.getFunction(), elementary.getInputs());
  }
};
} // namespace
