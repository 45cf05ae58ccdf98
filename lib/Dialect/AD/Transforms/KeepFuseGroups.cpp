// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/IR/FuseGroups.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-keep-fuse-groups"

namespace mlir::ad {
#define GEN_PASS_DEF_KEEPFUSEGROUPSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
struct KeepFuseGroupsPass : ad::impl::KeepFuseGroupsPassBase<KeepFuseGroupsPass> {
  void runOnOperation() override {
    [[maybe_unused]] int64_t alone = keepFuseGroups(getOperation());
    LDBG() << alone << " operations are groups of their own";
  }
};
} // namespace
