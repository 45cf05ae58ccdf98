// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Faults in conditions, bounds and operands of arithmetic.
#include "Mutant.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adjoint::mutations {
namespace {

/// Branches that no source line wrote.
bool isGenerated(const BranchInst &branch) {
  static constexpr StringRef constructs[] = {
      "cleanup", "delete",    "arraydestroy", "arrayctor", "arrayinit", "init", "cast",       "nrvo",
      "new",     "ehcleanup", "eh",           "terminate", "catch",     "lpad", "unreachable"};
  return isBlockOf(*branch.getSuccessor(0), constructs) || isBlockOf(*branch.getSuccessor(1), constructs);
}

StringRef symbol(CmpInst::Predicate predicate) {
  switch (predicate) {
  case CmpInst::ICMP_SLT:
  case CmpInst::ICMP_ULT:
  case CmpInst::FCMP_OLT:
    return "<";
  case CmpInst::ICMP_SLE:
  case CmpInst::ICMP_ULE:
  case CmpInst::FCMP_OLE:
    return "<=";
  case CmpInst::ICMP_SGT:
  case CmpInst::ICMP_UGT:
  case CmpInst::FCMP_OGT:
    return ">";
  case CmpInst::ICMP_SGE:
  case CmpInst::ICMP_UGE:
  case CmpInst::FCMP_OGE:
    return ">=";
  default:
    return "";
  }
}

} // namespace

void findConditions(Instruction &instruction, Mutants &mutants) {
  if (auto *branch = dyn_cast<BranchInst>(&instruction)) {
    if (!branch->isConditional() || isa<Constant>(branch->getCondition()) || isGenerated(*branch))
      return;
    // A loop with a negated condition usually hangs or accesses memory out of bounds, which any test finds.
    bool loop = isBlockOf(*branch->getSuccessor(0), {"for.body", "while.body", "do.body"});
    mutants.push_back(
        {branch, loop ? "loop" : "negate",
         loop ? "loop left before its first iteration" : "condition negated", [=](Value *active) {
           Value *condition = branch->getCondition();
           Value *faulty = loop ? static_cast<Value *>(ConstantInt::getFalse(active->getContext()))
                                : BinaryOperator::CreateNot(condition, "", branch->getIterator());
           branch->setCondition(select(active, faulty, condition, branch));
         }});
  } else if (auto *choice = dyn_cast<SelectInst>(&instruction)) {
    mutants.push_back({choice, "negate", "condition negated", [=](Value *active) {
                         Value *no =
                             BinaryOperator::CreateNot(choice->getCondition(), "", choice->getIterator());
                         choice->setCondition(select(active, no, choice->getCondition(), choice));
                       }});
  }
}

void findBounds(Instruction &instruction, Mutants &mutants) {
  auto *compare = dyn_cast<CmpInst>(&instruction);
  if (!compare || !(compare->isRelational() || isa<FCmpInst>(compare)) || compare->getType()->isVectorTy())
    return;
  CmpInst::Predicate right = compare->getPredicate(), faulty = CmpInst::getFlippedStrictnessPredicate(right);
  if (symbol(right).empty())
    return;
  std::string what = ("'" + symbol(right) + "' became '" + symbol(faulty) + "'").str();
  mutants.push_back({compare, "bound", what, [=](Value *active) {
                       Instruction *other = compare->clone();
                       cast<CmpInst>(other)->setPredicate(faulty);
                       other->insertAfter(compare->getIterator());
                       replaceResult(*compare, active, other);
                     }});
}

void findOperands(Instruction &instruction, Mutants &mutants) {
  auto *operation = dyn_cast<BinaryOperator>(&instruction);
  // The step of a loop: without it the loop hangs.
  if (!operation || operation->getType()->isVectorTy() || isBlockOf(*operation->getParent(), {"for.inc"}))
    return;
  // Differences of pointers, and arithmetic that the compiler emits for switches and bit fields.
  if (isa<PtrToIntInst>(operation->getOperand(0)) || isa<Constant>(operation->getOperand(0)))
    return;
  std::string what = std::string("second operand of '") + operation->getOpcodeName() + "' dropped";
  mutants.push_back({operation, "operand", what,
                     [=](Value *active) { replaceResult(*operation, active, operation->getOperand(0)); }});
}

} // namespace adjoint::mutations
