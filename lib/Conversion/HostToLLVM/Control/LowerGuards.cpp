// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-lower-guards`: a guard becomes a branch to the exit of its entry.

#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-lower-guards"

namespace mlir::ad {
#define GEN_PASS_DEF_LOWERGUARDSPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
class LowerGuardsPass : public ad::impl::LowerGuardsPassBase<LowerGuardsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<GuardOp> guards;
    function.walk([&](GuardOp guard) { guards.push_back(guard); });
    if (guards.empty())
      return;
    LDBG() << "@" << function.getSymName() << " gets an exit for " << guards.size() << " guards";
    OpBuilder builder(function);
    Block *exit = builder.createBlock(&function.getBody(), function.getBody().end(), builder.getI32Type(),
                                      function.getLoc());
    func::ReturnOp::create(builder, function.getLoc(), exit->getArgument(0));
    // From the last guard to the first: a split then moves the operations up to the next guard, not all that
    // follow.
    for (GuardOp guard : llvm::reverse(guards)) {
      Block *block = guard->getBlock();
      Block *rest = block->splitBlock(std::next(guard->getIterator()));
      builder.setInsertionPoint(guard);
      Value zero = arith::ConstantIntOp::create(builder, guard.getLoc(), builder.getI32Type(), 0);
      Value succeeded =
          arith::CmpIOp::create(builder, guard.getLoc(), arith::CmpIPredicate::eq, guard.getStatus(), zero);
      cf::CondBranchOp::create(builder, guard.getLoc(), succeeded, rest, ValueRange(), exit,
                               ValueRange(guard.getStatus()));
      guard.erase();
    }
  }
};
} // namespace
