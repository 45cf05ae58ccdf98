// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Faults in calls: omitted calls, and swapped arguments.
#include "Callee.h"
#include "Mutant.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adjoint::mutations {
namespace {

/// Calls whose order of arguments means nothing, or changes nothing but measured times.
bool isCommutative(const Callee &callee) {
  static const StringSet<> names = {
      "min",       "max",  "swap",  "operator==", "operator!=", "operator&", "operator|",
      "operator^", "gcd",  "lcm",   "add",        "mul",        "addf",      "mulf",
      "addi",      "muli", "equal", "and_",       "or_",        "isEqual"};
  static const StringSet<> operations = {
      "AddIOp",  "MulIOp",  "AddFOp",  "MulFOp",     "AndIOp",     "OrIOp",     "XOrIOp",    "MaxSIOp",
      "MinSIOp", "MaxUIOp", "MinUIOp", "MaximumFOp", "MinimumFOp", "MaxNumFOp", "MinNumFOp", "AddOp",
      "MulOp",   "MaxOp",   "MinOp",   "AndOp",      "OrOp",       "XOrOp",     "FAddOp",    "FMulOp"};
  if (names.contains(callee.name) || StringRef(callee.scope).starts_with("std::chrono"))
    return true;
  // `Op::create(…)`, or a function that makes an operation of its template argument.
  StringRef made = callee.name == "create" ? StringRef(callee.scope) : StringRef(callee.templateArguments);
  made = made.rtrim('>');
  return operations.contains(made.substr(made.find_last_of(":<") + 1));
}

bool sameValue(Value *a, Value *b) {
  if (a == b)
    return true;
  auto *x = dyn_cast<LoadInst>(a), *y = dyn_cast<LoadInst>(b);
  return x && y && x->getPointerOperand() == y->getPointerOperand();
}

/// Leaving these out changes nothing but times and memory, or is a fault that every run shows.
bool isWorthless(const Callee &callee) {
  static const StringSet<> names = {"reserve",   "shrink_to_fit", "operator++",   "operator--", "operator->",
                                    "operator*", "setDebugLoc",   "setDebugName", "move",       "forward"};
  bool message = StringRef(callee.scope).contains("Diagnostic");
  return message || callee.isConstructorOrDestructor || names.contains(callee.name) ||
         StringRef(callee.name).starts_with("operator new") ||
         StringRef(callee.name).starts_with("operator delete");
}

void skip(CallBase &call, Value *active) {
  IRBuilder<> builder(&call);
  if (auto *invoke = dyn_cast<InvokeInst>(&call)) {
    BasicBlock *head = call.getParent(), *rest = SplitBlock(head, &call);
    head->getTerminator()->eraseFromParent();
    BranchInst::Create(invoke->getNormalDest(), rest, active, head);
    return;
  }
  Instruction *end = SplitBlockAndInsertIfThen(builder.CreateNot(active), &call, /*Unreachable=*/false);
  call.moveBefore(end->getIterator());
}

} // namespace

void findSwaps(Instruction &instruction, Mutants &mutants) {
  auto *call = dyn_cast<CallBase>(&instruction);
  std::optional<Callee> callee = call ? calleeOf(*call) : std::nullopt;
  if (!callee || isCommutative(*callee))
    return;
  std::vector<unsigned> first = argumentsOfParameters(*call, *callee);
  for (unsigned i = 0; i + 2 < first.size(); ++i) {
    unsigned a = first[i], b = first[i + 1], size = b - a;
    if (callee->parameters[i] != callee->parameters[i + 1] || first[i + 2] - b != size ||
        sameValue(call->getArgOperand(a), call->getArgOperand(b)))
      continue;
    std::string what =
        "arguments " + utostr(i + 1) + " and " + utostr(i + 2) + " of " + callee->qualified() + " swapped";
    mutants.push_back({call, "swap", what, [=](Value *active) {
                         for (unsigned part = 0; part < size; ++part) {
                           Value *x = call->getArgOperand(a + part), *y = call->getArgOperand(b + part);
                           if (x->getType() != y->getType())
                             continue;
                           call->setArgOperand(a + part, select(active, y, x, call));
                           call->setArgOperand(b + part, select(active, x, y, call));
                         }
                       }});
  }
}

void findSkips(Instruction &instruction, Mutants &mutants) {
  auto *call = dyn_cast<CallBase>(&instruction);
  if (!call || !call->use_empty() || call->hasStructRetAttr() || call->doesNotReturn() ||
      isa<CallBrInst>(call))
    return;
  std::optional<Callee> callee = calleeOf(*call);
  if (!callee || isWorthless(*callee))
    return;
  if (auto *invoke = dyn_cast<InvokeInst>(call))
    if (!invoke->getNormalDest()->phis().empty())
      return;
  mutants.push_back({call, "skip", "call of " + callee->qualified() + " left out",
                     [=](Value *active) { skip(*call, active); }});
}

} // namespace adjoint::mutations
