// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TrialFusion.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;

OwningOpRef<FusionOp> ad::makeTrialFusion(ArrayRef<Operation *> members) {
  SmallVector<Operation *> ordered(members);
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); });
  SmallVector<Value> outputs;
  llvm::SetVector<Value> inputs;
  for (Operation *op : ordered) {
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(ordered, operand.getDefiningOp()))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !llvm::is_contained(ordered, user); }))
        outputs.push_back(result);
  }
  OpBuilder builder(ordered.front()->getContext());
  Location loc = ordered.back()->getLoc();
  FusionKind kind = cast<FusableOpInterface>(ordered.back()).getFusionKind();
  OwningOpRef<FusionOp> fusion =
      FusionOp::create(builder, loc, TypeRange(ValueRange(outputs)), kind, inputs.getArrayRef(),
                       /*kernel=*/StringAttr(), /*order=*/OrderAttr(), /*allow=*/PermissionsAttr());
  Block &body = fusion->getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), loc));
  builder.setInsertionPointToStart(&body);
  for (Operation *op : ordered)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded =
      llvm::map_to_vector(outputs, [&](Value value) { return mapping.lookup(value); });
  YieldOp::create(builder, loc, yielded);
  return fusion;
}
