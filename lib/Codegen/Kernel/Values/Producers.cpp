// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Producers.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

SmallVector<Value> codegen::extractedTensors(linalg::GenericOp generic) {
  return llvm::map_to_vector(generic.getOps<tensor::ExtractOp>(),
                             [](tensor::ExtractOp op) -> Value { return op.getTensor(); });
}

// Null for one chain, which has nothing to join: the verifier keeps it from orders that join.
Operation *codegen::combiningOp(linalg::GenericOp generic) { return matchReduction(generic).combiner; }

bool codegen::isExpensiveScalar(Operation *op) {
  return isa<ElementaryOp, arith::DivFOp, arith::RemFOp, math::SqrtOp>(op);
}

bool codegen::isExpensive(linalg::GenericOp generic) {
  return llvm::any_of(*generic.getBlock(), [](Operation &op) { return isExpensiveScalar(&op); });
}

// The tensors that an operation of the body reads whole, at a slice, or at computed indices.
static SmallVector<Value> tensorsRead(Operation *op) {
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op)) {
    SmallVector<Value> read = extractedTensors(generic);
    llvm::copy_if(generic.getDpsInputs(), std::back_inserter(read),
                  [](Value input) { return isa<RankedTensorType>(input.getType()); });
    return read;
  }
  if (isa_and_nonnull<tensor::CastOp, tensor::ExtractSliceOp>(op))
    return {op->getOperand(0)};
  return {};
}

bool codegen::anyProducer(Value output, function_ref<bool(Value)> predicate) {
  SmallVector<Value> pending = {output};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (predicate(value))
      return true;
    for (Value input : tensorsRead(value.getDefiningOp()))
      if (seen.insert(input).second)
        pending.push_back(input);
  }
  return false;
}

bool codegen::dependsOn(Value output, function_ref<bool(linalg::GenericOp)> predicate) {
  return anyProducer(output, [&](Value value) {
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    return generic && predicate(generic);
  });
}

bool codegen::reduces(linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; }

bool codegen::isPointwise(linalg::GenericOp generic) {
  auto isIdentity = [&](OpOperand &operand) {
    return !isa<RankedTensorType>(operand.get().getType()) ||
           generic.getMatchingIndexingMap(&operand).isIdentity();
  };
  return generic.getNumReductionLoops() == 0 && llvm::all_of(generic->getOpOperands(), isIdentity) &&
         llvm::none_of(*generic.getBlock(),
                       [](Operation &op) { return isa<linalg::IndexOp, tensor::ExtractOp>(op); });
}

Value codegen::convertedFrom(Value tensor) {
  Value source;
  while (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
    if (generic.getNumDpsInputs() != 1 || generic.getNumResults() != 1 || !isPointwise(generic))
      break;
    auto convert = generic.getBlock()->getTerminator()->getOperand(0).getDefiningOp<ConvertOp>();
    if (!convert || convert.getInput() != generic.getBlock()->getArgument(0) ||
        !isa<RankedTensorType>(generic.getDpsInputs()[0].getType()))
      break;
    source = tensor = generic.getDpsInputs()[0];
  }
  return source;
}
