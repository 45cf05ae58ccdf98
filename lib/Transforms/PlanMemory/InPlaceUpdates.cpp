// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "InPlaceUpdates.h"
#include "adjoint/Transforms/MemoryPlan.h"

using namespace mlir;
using namespace mlir::ad;

static Value sourceOfBranch(scf::IfOp branch, unsigned number);

// The value that `value` is an update of: the tensor into which slices are inserted, the initial value of a
// carry, or the value that both sides of a branch update. Null when there is none.
static Value sourceOf(Value value) {
  Operation *writer = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto launch = dyn_cast<LaunchOp>(writer)) {
    auto tied = launch.getTied();
    return tied && (*tied)[number] >= 0 ? launch.getInputs()[(*tied)[number]] : Value();
  }
  if (auto loop = dyn_cast<scf::ForOp>(writer))
    return loop.getInitArgs()[number];
  auto branch = dyn_cast<scf::IfOp>(writer);
  return branch ? sourceOfBranch(branch, number) : Value();
}

static Value sourceOfBranch(scf::IfOp branch, unsigned number) {
  Value common;
  for (Region &region : branch->getRegions()) {
    Value value = region.empty() ? Value() : region.front().getTerminator()->getOperand(number);
    while (value && value.getParentRegion() == &region)
      value = sourceOf(value);
    if (!value || (common && value != common))
      return Value();
    common = value;
  }
  return common;
}

// Puts the updates of one tensor on both sides of a branch into the buffer of the branch's result, if they
// are in place.
bool InPlaceUpdates::tryBothSides(scf::IfOp branch, unsigned number, int64_t buffer) {
  Value source = sourceOfBranch(branch, number);
  if (!source || !isTensor(source))
    return false;
  auto before = chosen;
  for (Region &region : branch->getRegions()) {
    Value value = region.front().getTerminator()->getOperand(number);
    while (value != source) {
      Value updated = sourceOf(value);
      auto inner = dyn_cast<scf::IfOp>(value.getDefiningOp());
      bool isFree = chosen.try_emplace(value, buffer).second && pools.haveSameSize(value, source);
      if (!isFree || (inner && !tryBothSides(inner, cast<OpResult>(value).getResultNumber(), buffer)) ||
          !diesBefore(updated, value.getDefiningOp(), buffer, /*inBlock=*/updated == source)) {
        chosen = before;
        return false;
      }
      value = updated;
    }
  }
  updatedInside.insert({branch, source});
  return true;
}

// Puts the value into the buffer of the carry if the carry's old value is dead by then.
bool InPlaceUpdates::tryCarry(Value value, BlockArgument argument, int64_t carry) {
  Operation *writer = value.getDefiningOp();
  if (!isa_and_nonnull<LaunchOp, FeedOp, scf::ForOp, scf::IfOp>(writer) ||
      writer->getBlock() != argument.getOwner() || chosen.count(value) ||
      !pools.haveSameSize(value, argument))
    return false;
  auto before = chosen;
  if (auto branch = dyn_cast<scf::IfOp>(writer);
      branch && !tryBothSides(branch, cast<OpResult>(value).getResultNumber(), carry))
    return false;
  chosen[value] = carry;
  if (diesBefore(argument, writer, carry))
    return true;
  chosen = before;
  return false;
}

void InPlaceUpdates::chooseInLoop(scf::ForOp loop, ArrayRef<int64_t> carries) {
  for (auto [argument, yielded, carry] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues(), carries)) {
    if (carry < 0)
      continue;
    Value value = stripAliases(yielded);
    if (!tryCarry(value, argument, carry))
      continue;
    while (Value before = sourceOf(value)) {
      auto known = chosen;
      if (!tryCarry(before, argument, carry))
        break;
      if (!diesBefore(before, value.getDefiningOp(), carry)) {
        chosen = known;
        break;
      }
      value = before;
    }
  }
}

// Whether the operation of the use may overwrite `value` with the results that were chosen for its buffer.
bool InPlaceUpdates::mayWriteOver(OpOperand &use, Value value, int64_t buffer) {
  Operation *writer = use.getOwner();
  auto launch = dyn_cast<LaunchOp>(writer);
  auto loop = dyn_cast<scf::ForOp>(writer);
  for (OpResult result : writer->getResults()) {
    if (bufferOf(result) != buffer)
      continue;
    // A carry that starts as the value finds it in place.
    if (loop && stripAliases(loop.getInitArgs()[result.getResultNumber()]) != value)
      return false;
    unsigned first = launch ? launch.getInputs().getBeginOperandIndex() : 0;
    if (launch && !overwrites.mayOverwrite(launch, use.getOperandNumber() - first, result.getResultNumber()))
      return false;
  }
  return launch || loop;
}

// Whether `writer` may overwrite `value`, which is in `buffer`: every use of it or of an alias comes earlier
// in the block, or is a read of the writer itself that allows an update in place. A use outside of the block
// means no, unless `inBlock` is set.
bool InPlaceUpdates::diesBefore(Value value, Operation *writer, int64_t buffer, bool inBlock) {
  return llvm::all_of(usesThroughAliases(value), [&](OpOperand *use) {
    Operation *user = use->getOwner(), *ancestor = writer->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor)
      return inBlock;
    return ancestor->isBeforeInBlock(writer) ||
           (ancestor == writer && use->get() == value && updatedInside.contains({writer, value})) ||
           (user == writer && mayWriteOver(*use, value, buffer));
  });
}

// A launch writes the yielded value directly into the buffer of the result, unless their dynamic sizes may
// differ.
void InPlaceUpdates::chooseInBranch(Block &block, ValueRange results, ArrayRef<int64_t> buffers) {
  for (auto [yielded, result, buffer] :
       llvm::zip_equal(block.getTerminator()->getOperands(), results, buffers)) {
    auto launch = yielded.getDefiningOp<LaunchOp>();
    if (buffer >= 0 && launch && launch->getBlock() == &block && !chosen.count(yielded) &&
        pools.haveSameSize(yielded, result))
      chosen[yielded] = buffer;
  }
}
