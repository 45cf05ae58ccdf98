// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/TraceName.h"
#include "adjoint/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-insert-trace"

namespace mlir::ad {
#define GEN_PASS_DEF_INSERTTRACEPASS
#include "adjoint/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {

class InsertTracePass : public ad::impl::InsertTracePassBase<InsertTracePass> {
public:
  using InsertTracePassBase::InsertTracePassBase;

  void runOnOperation() override {
    WalkResult used = getOperation().walk([](ReceiveOp op) {
      if (op.getName() != kTraceName)
        return WalkResult::advance();
      op.emitOpError("has the name '") << kTraceName << "', which traces use; give it another name";
      return WalkResult::interrupt();
    });
    if (used.wasInterrupted())
      return signalPassFailure();
    getOperation().walk([](FusionOp op) {
      if (op->getNumResults() == 0)
        return;
      LDBG() << "sends " << op->getNumResults() << " results of the operation at " << op.getLoc();
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      ReceiveOp::create(builder, op.getLoc(), builder.getStringAttr(kTraceName), op.getResults());
    });
  }
};

} // namespace
