// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Single faults that the pass plants, and the functions that find where each kind can be planted. A finder
// does not change the code: it returns where the guard of a fault is evaluated, and how the code depends on
// it. A new kind is a new finder in the list of Plugin.cpp.
#ifndef ADJOINT_TEST_MUTATIONS_MUTANT_H
#define ADJOINT_TEST_MUTATIONS_MUTANT_H

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <functional>
#include <string>
#include <vector>

namespace adjoint::mutations {

struct Mutant {
  /// The guard is evaluated before this instruction.
  llvm::Instruction *at;
  llvm::StringRef kind;
  /// What the fault changes, for the report.
  std::string what;
  /// Makes the code depend on the guard, an i1 that is true while the fault is switched on.
  std::function<void(llvm::Value *active)> plant;
};

using Mutants = std::vector<Mutant>;
using Finder = void (*)(llvm::Instruction &, Mutants &);

/// `negate`: the condition of a branch or selection; `loop`: the body never runs.
void findConditions(llvm::Instruction &instruction, Mutants &mutants);
/// `bound`: < becomes <=, and so on.
void findBounds(llvm::Instruction &instruction, Mutants &mutants);
/// `operand`: the second operand of an arithmetic operation is dropped.
void findOperands(llvm::Instruction &instruction, Mutants &mutants);
/// `constant`: an integer that is stored, passed or returned is off by one.
void findConstants(llvm::Instruction &instruction, Mutants &mutants);
/// `option`: a field of a struct of options loses its value.
void findOptions(llvm::Instruction &instruction, Mutants &mutants);
/// `list`: the first two elements of a braced list are swapped.
void findLists(llvm::Instruction &instruction, Mutants &mutants);
/// `swap`: two adjacent arguments of one type are swapped.
void findSwaps(llvm::Instruction &instruction, Mutants &mutants);
/// `skip`: a call whose result nobody uses is left out. It moves the call, so it comes last.
void findSkips(llvm::Instruction &instruction, Mutants &mutants);

/// Replaces the result of the instruction by the guarded value.
void replaceResult(llvm::Instruction &instruction, llvm::Value *active, llvm::Value *faulty);
llvm::Value *select(llvm::Value *active, llvm::Value *faulty, llvm::Value *right, llvm::Instruction *before);
/// The integer that is wrong by one: towards zero, or one for zero; a truth value changes.
llvm::Constant *offByOne(const llvm::ConstantInt &value);
std::string printed(const llvm::ConstantInt &value);

/// The name of the source construct that made the block, such as `for.body`; clang gives it to blocks.
bool isBlockOf(const llvm::BasicBlock &block, llvm::ArrayRef<llvm::StringRef> constructs);

} // namespace adjoint::mutations

#endif
