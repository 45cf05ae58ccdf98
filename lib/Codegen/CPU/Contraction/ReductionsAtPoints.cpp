// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where a nest needs the reductions that its outputs depend on: a walk from the outputs to the arguments,
// which notes at each value whether all indices on the way were those of the nest.

#include "../CPUTypes.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

using VisitInput = llvm::function_ref<void(Value input, bool atSamePoint)>;

static void visitInputs(linalg::GenericOp generic, unsigned result, VisitInput visit) {
  bool isReduction = reduces(generic);
  OpOperand *init = generic.getDpsInitOperand(result);
  AffineMap out = generic.getMatchingIndexingMap(init);
  for (OpOperand *input : generic.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()))
      visit(input->get(), !isReduction && generic.getMatchingIndexingMap(input) == out);
  if (isReduction)
    visit(init->get(), true);
  for (Value tensor : extractedTensors(generic))
    visit(tensor, false);
}

static void visitInputs(Value tensor, VisitInput visit) {
  Operation *op = tensor.getDefiningOp();
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
    visitInputs(generic, cast<OpResult>(tensor).getResultNumber(), visit);
  else if (isa_and_nonnull<tensor::CastOp, tensor::ExtractSliceOp>(op))
    visit(op->getOperand(0), isa<tensor::CastOp>(op));
}

ReductionsAtPoints cpu::reductionsAtPoints(ArrayRef<Value> outputs) {
  ReductionsAtPoints atPoints;
  llvm::SmallPtrSet<Operation *, 4> elsewhere;
  SmallVector<std::pair<Value, unsigned>> pending;
  llvm::SmallDenseSet<std::pair<Value, unsigned>> seen;
  auto enter = [&](Value tensor, bool atPoint) {
    if (seen.insert({tensor, atPoint}).second)
      pending.push_back({tensor, atPoint});
  };
  for (Value output : outputs)
    enter(output, true);
  while (!pending.empty()) {
    auto [tensor, atPoint] = pending.pop_back_val();
    if (auto generic = tensor.getDefiningOp<linalg::GenericOp>(); generic && reduces(generic))
      (atPoint ? atPoints : elsewhere).insert(generic);
    bool isHere = atPoint;
    visitInputs(tensor, [&](Value input, bool atSamePoint) { enter(input, isHere && atSamePoint); });
  }
  for (Operation *reduction : elsewhere)
    atPoints.erase(reduction);
  return atPoints;
}
