// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Nodes.h"
#include "adjoint/Support/TextFile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

bool print::isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

// One step across the border of a fusion, or null.
static Value acrossFusion(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto fusion = dyn_cast<FusionOp>(argument.getOwner()->getParentOp());
    return fusion ? fusion.getInputs()[argument.getArgNumber()] : Value();
  }
  auto fusion = value.getDefiningOp<FusionOp>();
  return fusion
             ? fusion.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber())
             : Value();
}

Value print::throughFusions(Value value) {
  while (Value next = acrossFusion(value))
    value = next;
  return value;
}

static scf::ForOp loopOfCarry(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && argument != loop.getInductionVar() ? loop : scf::ForOp();
}

bool print::isUpdatedInPlace(BlockArgument carry) {
  auto loop = loopOfCarry(carry);
  if (!loop)
    return false;
  Value next = throughFusions(loop.getTiedLoopYieldedValue(carry)->get());
  Operation *maker = next.getDefiningOp();
  if (auto inner = dyn_cast_if_present<scf::ForOp>(maker)) {
    BlockArgument innerCarry = inner.getTiedLoopRegionIterArg(cast<OpResult>(next));
    return inner.getTiedLoopInit(innerCarry)->get() == Value(carry) && isUpdatedInPlace(innerCarry);
  }
  auto fusable = dyn_cast_if_present<FusableOpInterface>(maker);
  return fusable && fusable.getFusionKind() == FusionKind::elementwise && maker->getNumOperands() > 0 &&
         throughFusions(maker->getOperand(0)) == Value(carry);
}

print::Nodes::Nodes(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (isTensor(argument))
      arguments[argument] = next++;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function)
      number(op);
  });
}

void print::Nodes::number(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  bool counts = op->getNumRegions() > 0 || llvm::any_of(op->getResults(), isTensor) ||
                llvm::any_of(op->getOperands(), isTensor);
  if (!counts)
    return;
  operations[op] = next++;
  if (isa<FusionOp>(op))
    return; // arguments of its body are its operands
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (isTensor(argument) && !isUpdatedInPlace(argument))
          arguments[argument] = next++;
}

Value print::Nodes::resolve(Value value) const {
  while (true) {
    value = throughFusions(value);
    if (auto loop = loopOfCarry(value)) {
      auto carry = cast<BlockArgument>(value);
      if (!isUpdatedInPlace(carry))
        return value;
      value = loop.getTiedLoopInit(carry)->get();
      continue;
    }
    auto loop = value.getDefiningOp<scf::ForOp>();
    if (!loop)
      return value;
    BlockArgument carry = loop.getTiedLoopRegionIterArg(cast<OpResult>(value));
    if (!isUpdatedInPlace(carry))
      return carry;
    value = loop.getTiedLoopYieldedValue(carry)->get();
  }
}

// A result of the operation, seen from outside of its fusion.
static void forEachUse(Value value, function_ref<void(OpOperand &)> callback) {
  SmallVector<Value> pending = {value};
  while (!pending.empty())
    for (OpOperand &use : pending.pop_back_val().getUses()) {
      auto fusion =
          isa<ad::YieldOp>(use.getOwner()) ? dyn_cast<FusionOp>(use.getOwner()->getParentOp()) : FusionOp();
      if (fusion)
        pending.push_back(fusion.getResult(use.getOperandNumber()));
      else
        callback(use);
    }
}

Value print::Nodes::updatedCarry(Operation *op) const {
  Value carry;
  if (op->getNumResults() != 1)
    return carry;
  forEachUse(op->getResult(0), [&](OpOperand &use) {
    auto loop = isa<scf::YieldOp>(use.getOwner()) ? dyn_cast<scf::ForOp>(use.getOwner()->getParentOp())
                                                  : scf::ForOp();
    if (!loop)
      return;
    BlockArgument candidate = loop.getRegionIterArg(use.getOperandNumber());
    if (isUpdatedInPlace(candidate) && throughFusions(op->getOperand(0)) == Value(candidate))
      carry = candidate;
  });
  return carry;
}

Value print::Nodes::resolveUpdates(Value value) const {
  while (true) {
    value = resolve(value);
    Operation *op = value.getDefiningOp();
    Value carry = op ? updatedCarry(op) : Value();
    if (!carry)
      return value;
    value = carry;
  }
}

std::string print::Nodes::id(Operation *op) const { return std::to_string(operations.lookup(op)); }

std::string print::Nodes::id(Value resolved) const {
  auto result = dyn_cast<OpResult>(resolved);
  if (!result)
    return std::to_string(arguments.lookup(resolved));
  std::string text = id(result.getOwner());
  return result.getOwner()->getNumResults() > 1 ? text + "#" + std::to_string(result.getResultNumber())
                                                : text;
}

// Values that depend on themselves, which unreachable blocks may hold, have no tree.
static LogicalResult verifyStructured(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    for (Region &region : op->getRegions())
      if (!region.empty() && !region.hasOneBlock())
        return WalkResult(op->emitOpError("has unstructured control flow, which has no text form"));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult print::printFunctions(ModuleOp module, StringRef pass, StringRef file,
                                    function_ref<void(func::FuncOp, raw_ostream &)> print) {
  auto functions = llvm::filter_to_vector(module.getOps<func::FuncOp>(),
                                          [](func::FuncOp function) { return !function.isExternal(); });
  for (func::FuncOp function : functions)
    if (failed(verifyStructured(function)))
      return failure();
  return writeTextFile(module, ("file of " + pass).str(), file, [&](raw_ostream &os) {
    for (func::FuncOp function : functions) {
      if (functions.size() > 1)
        os << '@' << function.getName() << ":\n";
      print(function, os);
    }
  });
}
