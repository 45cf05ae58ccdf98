// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations that move whole tensors.

#include "Rules.h"

using namespace mlir;
using namespace mlir::ad;

static LogicalResult reshapeRule(ReshapeOp op, Rule &rule) {
  if (rule.wants(0))
    rule.give(0, reshapeLike(rule.builder, rule.loc, rule.cotangent, op.getInput()));
  return success();
}

static LogicalResult broadcastRule(BroadcastOp op, Rule &rule) {
  if (rule.wants(0))
    rule.giveSummed(0, rule.cotangent);
  return success();
}

static LogicalResult sumToShapeRule(SumToShapeOp op, Rule &rule) {
  if (rule.wants(0))
    rule.give(0, broadcastLike(rule.builder, rule.loc, rule.cotangent, op.getInput()));
  return success();
}

static LogicalResult transposeRule(TransposeOp op, Rule &rule) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = to;
  if (rule.wants(0))
    rule.give(0, TransposeOp::create(rule.builder, rule.loc, rule.cotangent, inverse, PermissionsAttr()));
  return success();
}

static LogicalResult reverseRule(ReverseOp op, Rule &rule) {
  if (rule.wants(0))
    rule.give(0, ReverseOp::create(rule.builder, rule.loc, rule.cotangent, op.getAxes(), PermissionsAttr()));
  return success();
}

void ad::attachShapeRules(MLIRContext *context) {
  attachRule<ReshapeOp, reshapeRule>(context);
  attachRule<BroadcastOp, broadcastRule>(context);
  attachRule<SumToShapeOp, sumToShapeRule>(context);
  attachRule<TransposeOp, transposeRule>(context);
  attachRule<ReverseOp, reverseRule>(context);
}
