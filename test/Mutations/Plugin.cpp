// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A pass of clang (-fpass-plugin) that plants single faults in the code of the project. Every fault is
// guarded by a byte of its own, so that one build serves all of them. The bytes and the names of the faults
// are registered with the runtime (Runtime.cpp) before any other constructor runs.
//
// A fault is named FILE:LINE:COLUMN:KIND:ORDINAL, whichever object it is compiled into: instances of one
// template and copies of one inline function switch together. Only code whose line is in lib/ or
// include/adjoint/ below $ADJOINT_MUTATIONS_ROOT is changed.
#include "Mutant.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <cstdlib>

using namespace llvm;

namespace adjoint::mutations {
namespace {

constexpr Finder finders[] = {findConditions, findBounds, findOperands, findConstants,
                              findOptions,    findLists,  findSwaps,    findSkips};

/// The path below the root of the project; empty for code that is not the project's.
std::string projectPath(const DILocation &location) {
  const char *root = std::getenv("ADJOINT_MUTATIONS_ROOT");
  SmallString<128> path(location.getFilename());
  if (!sys::path::is_absolute(path)) {
    path = location.getDirectory();
    sys::path::append(path, location.getFilename());
  }
  sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  StringRef rest(path);
  if (!root || !rest.consume_front(root) || !rest.consume_front("/") ||
      !(rest.starts_with("lib/") || rest.starts_with("include/adjoint/")))
    return "";
  return rest.str();
}

class MutationPass : public PassInfoMixin<MutationPass> {
public:
  PreservedAnalyses run(Module &m, ModuleAnalysisManager &) {
    module = &m;
    names.clear(), offsets.clear();
    std::vector<std::pair<Mutant, std::string>> mutants;
    for (Function &function : m)
      collect(function, mutants);
    if (!mutants.empty()) {
      makeStates(mutants.size());
      for (auto &[mutant, id] : mutants)
        plant(mutant, id);
      registerStates();
    }
    // Debug locations are not needed any more, and take time and space.
    StripDebugInfo(m);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }

private:
  void collect(Function &function, std::vector<std::pair<Mutant, std::string>> &mutants) {
    // Implicit assignments are written by the compiler, and have no faults of programmers.
    if (function.getName().contains("aSEO") || function.getName().contains("aSERK"))
      return;
    StringMap<unsigned> ordinals;
    for (BasicBlock &block : function) {
      if (isBlockOf(block, {"lpad", "ehcleanup", "terminate", "eh"}))
        continue;
      for (Instruction &instruction : block) {
        const DILocation *location = instruction.getDebugLoc().get();
        if (!location || location->getLine() == 0 || isa<PHINode>(instruction))
          continue;
        Mutants found;
        for (Finder find : finders)
          find(instruction, found);
        std::string path = found.empty() ? "" : projectPath(*location);
        for (Mutant &mutant : found) {
          if (path.empty())
            break;
          std::string id = path + ":" + utostr(location->getLine()) + ":" + utostr(location->getColumn()) +
                           ":" + mutant.kind.str();
          id += ":" + utostr(ordinals[id]++);
          mutants.emplace_back(std::move(mutant), id);
        }
      }
    }
  }

  void makeStates(size_t count) {
    LLVMContext &context = module->getContext();
    auto *type = ArrayType::get(Type::getInt8Ty(context), count);
    states = new GlobalVariable(*module, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                                Constant::getNullValue(type), "adjoint.mutation.states");
    hit = module->getOrInsertFunction("adjoint_mutation_hit", Type::getInt1Ty(context),
                                      PointerType::get(context, 0));
    cast<Function>(hit.getCallee())->addRetAttr(Attribute::ZExt);
  }

  void plant(const Mutant &mutant, StringRef id) {
    Value *active = makeGuard(*mutant.at, offsets.size());
    offsets.push_back(names.size());
    names += (id + "\t" + mutant.what).str();
    names.push_back('\0');
    mutant.plant(active);
  }

  /// A byte that is zero but for the fault that is switched on, or while it is recorded what is reached. Then
  /// the runtime says whether the fault is on.
  Value *makeGuard(Instruction &at, size_t index) {
    IRBuilder<> builder(&at);
    builder.SetCurrentDebugLocation(at.getDebugLoc());
    Value *state = builder.CreateConstInBoundsGEP2_64(states->getValueType(), states, 0, index);
    Value *set = builder.CreateIsNotNull(builder.CreateLoad(builder.getInt8Ty(), state));
    BasicBlock *head = at.getParent();
    MDNode *unlikely = MDBuilder(module->getContext()).createUnlikelyBranchWeights();
    Instruction *end = SplitBlockAndInsertIfThen(set, &at, /*Unreachable=*/false, unlikely);
    builder.SetInsertPoint(end);
    Value *answer = builder.CreateCall(hit, state);
    builder.SetInsertPoint(&at);
    PHINode *active = builder.CreatePHI(builder.getInt1Ty(), 2);
    active->addIncoming(builder.getFalse(), head);
    active->addIncoming(answer, end->getParent());
    return active;
  }

  void registerStates() {
    LLVMContext &context = module->getContext();
    IRBuilder<> builder(context);
    auto *type = FunctionType::get(builder.getVoidTy(), /*isVarArg=*/false);
    Function *constructor =
        Function::Create(type, GlobalValue::InternalLinkage, "adjoint.mutation.register", *module);
    builder.SetInsertPoint(BasicBlock::Create(context, "entry", constructor));
    Type *pointer = PointerType::get(context, 0);
    FunctionCallee registerAll = module->getOrInsertFunction(
        "adjoint_mutations_register", builder.getVoidTy(), pointer, pointer, pointer, builder.getInt64Ty());
    builder.CreateCall(registerAll,
                       {constant(ConstantDataArray::getString(context, names, /*AddNull=*/false)),
                        constant(ConstantDataArray::get(context, ArrayRef<uint32_t>(offsets))), states,
                        builder.getInt64(offsets.size())});
    builder.CreateRetVoid();
    appendToGlobalCtors(*module, constructor, /*Priority=*/101);
  }

  GlobalVariable *constant(Constant *content) {
    return new GlobalVariable(*module, content->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage,
                              content, "adjoint.mutation.table");
  }

  Module *module = nullptr;
  GlobalVariable *states = nullptr;
  FunctionCallee hit;
  std::string names;
  std::vector<uint32_t> offsets;
};

} // namespace

Value *select(Value *active, Value *faulty, Value *right, Instruction *before) {
  return SelectInst::Create(active, faulty, right, "", before->getIterator());
}

void replaceResult(Instruction &instruction, Value *active, Value *faulty) {
  Instruction *last = isa<Instruction>(faulty) &&
                              cast<Instruction>(faulty)->getParent() == instruction.getParent() &&
                              instruction.comesBefore(cast<Instruction>(faulty))
                          ? cast<Instruction>(faulty)
                          : &instruction;
  auto *either = SelectInst::Create(active, faulty, &instruction, "", std::next(last->getIterator()));
  instruction.replaceUsesWithIf(either, [=](Use &use) { return use.getUser() != either; });
}

Constant *offByOne(const ConstantInt &value) {
  if (value.getBitWidth() == 1)
    return ConstantInt::getBool(value.getContext(), value.isZero());
  int64_t old = value.getSExtValue();
  return ConstantInt::getSigned(value.getIntegerType(), old == 0 ? 1 : old > 0 ? old - 1 : old + 1);
}

std::string printed(const ConstantInt &value) {
  if (value.getBitWidth() == 1)
    return value.isZero() ? "false" : "true";
  return itostr(value.getSExtValue());
}

bool isBlockOf(const BasicBlock &block, ArrayRef<StringRef> constructs) {
  StringRef name = block.getName();
  return llvm::any_of(constructs, [&](StringRef construct) {
    StringRef rest = name;
    return rest.consume_front(construct) && (rest.empty() || rest[0] == '.' || isDigit(rest[0]));
  });
}

} // namespace adjoint::mutations

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "adjoint-mutations", "1", [](PassBuilder &builder) {
            builder.registerPipelineStartEPCallback([](ModulePassManager &manager, OptimizationLevel) {
              manager.addPass(adjoint::mutations::MutationPass());
            });
          }};
}
