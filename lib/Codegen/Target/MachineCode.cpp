// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "adjoint/Codegen/Target/MachineCode.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir::ad;

static constexpr llvm::StringLiteral
    passPipeline("function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
                 "loop-mssa(licm),early-cse<memssa>)");

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> mlir::ad::createTargetMachine(const llvm::Triple &triple,
                                                                                   llvm::StringRef cpu,
                                                                                   llvm::StringRef features,
                                                                                   bool isJIT) {
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return llvm::createStringError(problem);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                  llvm::CodeGenOptLevel::Default, isJIT));
  if (!machine)
    return llvm::createStringError("LLVM cannot generate code for " + triple.str());
  return std::move(machine);
}

llvm::Error mlir::ad::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, passPipeline))
    return error;
  passes.run(module, modules);
  return llvm::Error::success();
}
