// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The broadcasts of ad-set-numerics once more, after other passes.

#include "WriteContract.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-write-broadcasts"

namespace mlir::ad {
#define GEN_PASS_DEF_WRITEBROADCASTSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static int64_t countBroadcasts(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](BroadcastOp) { ++count; });
  return count;
}

namespace {
struct WriteBroadcastsPass : ad::impl::WriteBroadcastsPassBase<WriteBroadcastsPass> {
  void runOnOperation() override {
    [[maybe_unused]] int64_t before = countBroadcasts(getOperation());
    writeBroadcasts(getOperation());
    LDBG() << countBroadcasts(getOperation()) - before << " operands are broadcast";
  }
};
} // namespace
