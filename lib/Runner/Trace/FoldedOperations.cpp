// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "adjoint/Runner/Trace/FoldedOperations.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Runner/Trace/NonFiniteFinder.h"
#include "adjoint/Runner/Trace/ObservedRun.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad::runner;

static std::string keyOf(Operation *op) {
  return (op->getName().getStringRef() + " " + mlir::ad::locationText(op->getLoc())).str();
}

static llvm::StringMap<int> countOperations(ModuleOp module) {
  llvm::StringMap<int> counts;
  module.walk([&](Operation *op) { ++counts[keyOf(op)]; });
  return counts;
}

bool FoldedOperations::isConstant(Operation *op) {
  if (!op || op->getNumRegions() > 0 || op->getNumResults() == 0 || !isMemoryEffectFree(op))
    return false;
  auto [known, isNew] = constants.try_emplace(op, true);
  if (!isNew)
    return known->second;
  bool isConstantOp =
      llvm::all_of(op->getOperands(), [&](Value operand) { return isConstant(operand.getDefiningOp()); });
  return constants[op] = isConstantOp;
}

FoldedOperations::FoldedOperations(ModuleOp written, ModuleOp compiled) {
  llvm::StringMap<int> before = countOperations(written), after = countOperations(compiled);
  llvm::StringMap<bool> isWrittenConstant;
  written.walk([&](Operation *op) {
    bool isLiteral = op->hasTrait<OpTrait::ConstantLike>(), isFolded = !isLiteral && isConstant(op);
    std::string key = keyOf(op), location = mlir::ad::locationText(op->getLoc());
    if (isFolded && after.lookup(key) < before.lookup(key))
      folded.insert(op);
    isWrittenConstant[location] |= isLiteral || isFolded;
    if (op->getNumResults() > 0 && op->getNumRegions() == 0)
      makers.try_emplace(location, op);
  });
  for (const auto &[location, isWritten] : isWrittenConstant)
    if (isWritten)
      makers.erase(location);
}

Operation *FoldedOperations::findMaker(Operation *constant) const {
  return makers.lookup(mlir::ad::locationText(constant->getLoc()));
}

void mlir::ad::runner::observeFolded(ObservedRun &run, NonFiniteFinder &finder) {
  run.alsoObserveWritten({[&finder](ModuleOp written, ModuleOp compiled) -> reference::Observer * {
                            return finder.watchWritten(written, compiled);
                          },
                          [&finder] { finder.adoptFolded(); }});
}
