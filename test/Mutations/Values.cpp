// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Faults in values: constants, options, lists.
#include "Callee.h"
#include "Mutant.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adjoint::mutations {
namespace {

/// What the compiler keeps for itself in a function.
bool isBookkeeping(const Value &slot) {
  StringRef name = slot.getName();
  return name.starts_with("cleanup") || name.starts_with("nrvo") || name.starts_with("saved_stack") ||
         name.starts_with("arrayinit.endOfInit");
}

void addConstant(Instruction &instruction, unsigned operand, StringRef where, Mutants &mutants) {
  auto *value = dyn_cast<ConstantInt>(instruction.getOperand(operand));
  if (!value || value->getBitWidth() > 64)
    return;
  Constant *faulty = offByOne(*value);
  std::string what = (where + " " + printed(*value) + " became " + printed(*cast<ConstantInt>(faulty))).str();
  Instruction *at = &instruction;
  mutants.push_back({at, "constant", what, [=](Value *active) {
                       at->setOperand(operand, select(active, faulty, at->getOperand(operand), at));
                     }});
}

/// Functions to which one more or less changes nothing that a test could see, or nothing but the allocator.
/// Constructors of containers take how many elements to expect.
bool takesNoValues(const Callee &callee) {
  static constexpr StringRef containers[] = {"DenseMap<",  "DenseSet<",  "StringMap<",   "StringSet<",
                                             "MapVector<", "SetVector<", "basic_string<"};
  if (callee.isConstructorOrDestructor && llvm::any_of(containers, [&](StringRef container) {
        return StringRef(callee.scope).contains(container);
      }))
    return true;
  StringRef name = callee.name;
  return name.starts_with("operator new") || name.starts_with("operator delete") ||
         name.starts_with("allocate") || name == "reserve" || name.starts_with("operator\"\"");
}

bool isOptions(const Type &type) {
  auto *record = dyn_cast<StructType>(&type);
  if (!record || !record->hasName())
    return false;
  StringRef name = record->getName();
  name = name.substr(name.find_last_of(":.") + 1);
  return name.contains("Option") || name.contains("Config") || name.contains("Settings");
}

/// An option of a pass is read through a function of llvm::cl.
bool readsOption(const Value &pointer) {
  if (auto *call = dyn_cast<CallBase>(&pointer))
    return call->getCalledFunction() && call->getCalledFunction()->getName().contains("N4llvm2cl");
  auto *field = dyn_cast<GetElementPtrInst>(&pointer);
  return field && field->hasAllConstantIndices() && isOptions(*field->getSourceElementType());
}

/// The address of an element of a braced list, from the address of a field of the element. Null for other
/// addresses.
Value *elementOfList(Value *address) {
  while (auto *field = dyn_cast<GetElementPtrInst>(address)) {
    if (field->getName().starts_with("arrayinit"))
      return field;
    address = field->getPointerOperand();
  }
  return address->getName().starts_with("ref.tmp") || isa<AllocaInst>(address) ? address : nullptr;
}

/// A store or copy into the first element of the list into whose second the store goes.
StoreInst *storeBefore(StoreInst &second) {
  Value *address = elementOfList(second.getPointerOperand());
  auto *element = dyn_cast_or_null<GetElementPtrInst>(address);
  if (!element || !element->getName().starts_with("arrayinit"))
    return nullptr;
  for (Instruction *previous = second.getPrevNode(); previous; previous = previous->getPrevNode()) {
    auto *first = dyn_cast<StoreInst>(previous);
    if (first && first->getValueOperand()->getType() == second.getValueOperand()->getType() &&
        elementOfList(first->getPointerOperand()) == element->getPointerOperand())
      return first;
  }
  return nullptr;
}

} // namespace

void findConstants(Instruction &instruction, Mutants &mutants) {
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    if (!isBookkeeping(*store->getPointerOperand()))
      addConstant(*store, 0, "value", mutants);
  } else if (isa<ReturnInst>(instruction) && instruction.getNumOperands() == 1) {
    addConstant(instruction, 0, "returned", mutants);
  } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
    std::optional<Callee> callee = calleeOf(*call);
    if (!callee || takesNoValues(*callee))
      return;
    for (unsigned i = 0; i < call->arg_size(); ++i)
      addConstant(*call, i, "argument of " + callee->qualified() + ":", mutants);
  }
}

void findOptions(Instruction &instruction, Mutants &mutants) {
  auto *load = dyn_cast<LoadInst>(&instruction);
  if (!load || !load->getType()->isIntegerTy() || !readsOption(*load->getPointerOperand()))
    return;
  // Implicit copies of options.
  if (isConstructorOrDestructor(load->getFunction()->getName()))
    return;
  mutants.push_back(
      {load, "option", "option lost: zero instead of its value, or one for zero", [=](Value *active) {
         IRBuilder<> builder(load->getNextNode());
         Value *zero = ConstantInt::get(load->getType(), 0);
         Value *faulty = builder.CreateZExt(builder.CreateICmpEQ(load, zero), load->getType());
         Value *either = builder.CreateSelect(active, faulty, load);
         load->replaceUsesWithIf(either, [=](Use &use) {
           return use.getUser() != either && use.getUser() != cast<Instruction>(faulty)->getOperand(0);
         });
       }});
}

void findLists(Instruction &instruction, Mutants &mutants) {
  auto *second = dyn_cast<StoreInst>(&instruction);
  StoreInst *first = second ? storeBefore(*second) : nullptr;
  if (!first || first->getValueOperand() == second->getValueOperand())
    return;
  mutants.push_back(
      {second, "list", "an element of the list and the one before it swapped", [=](Value *active) {
         Value *a = first->getValueOperand(), *b = second->getValueOperand();
         second->setOperand(0, select(active, a, b, second));
         new StoreInst(select(active, b, a, second), first->getPointerOperand(), second->getIterator());
       }});
}

} // namespace adjoint::mutations
