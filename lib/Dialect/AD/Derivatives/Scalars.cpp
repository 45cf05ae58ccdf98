// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations that make tensors of scalars. tensor.extract is in Slices.cpp: it reads a
// part.

#include "Rules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

static Value elementAt(Rule &rule, Value tensor, ArrayRef<int64_t> position) {
  SmallVector<Value> indices = llvm::map_to_vector(position, [&](int64_t index) -> Value {
    return arith::ConstantIndexOp::create(rule.builder, rule.loc, index);
  });
  return tensor::ExtractOp::create(rule.builder, rule.loc, tensor, indices);
}

// The scalar is every element, so that its cotangent is the sum of all.
template <typename OpT> static LogicalResult fullRule(OpT, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value sum = rule.cotangent;
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(sum.getType()).getRank()));
  if (!axes.empty())
    sum = ReduceSumOp::create(rule.builder, rule.loc, sum, axes);
  rule.give(0, elementAt(rule, sum, {}));
  return success();
}

// Elements are in row-major order.
static LogicalResult fromElementsRule(tensor::FromElementsOp op, Rule &rule) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  SmallVector<int64_t> position(shape.size(), 0);
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
    if (rule.wants(operand))
      rule.give(operand, elementAt(rule, rule.cotangent, position));
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++position[axis] < shape[axis])
        break;
      position[axis] = 0;
    }
  }
  return success();
}

void ad::attachScalarRules(MLIRContext *context) { attachRule<FullOp, fullRule<FullOp>>(context); }

void ad::attachTensorRules(MLIRContext *context) {
  attachRule<tensor::SplatOp, fullRule<tensor::SplatOp>>(context);
  attachRule<tensor::FromElementsOp, fromElementsRule>(context);
}
