// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code generation. The pass list is short on purpose: our lowerings hand over vector code that LLVM's loop
// and SLP vectorisers would only take time on, and nothing here may touch the order or the rounding of float
// arithmetic.
#include "adjoint/Runner/Compile.h"
#include "adjoint/Runner/Error.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

constexpr llvm::StringLiteral
    passPipeline("function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
                 "loop-mssa(licm),early-cse<memssa>)");

void initializeCodegen() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CpuTarget &cpu) {
  initializeCodegen();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return exitError(ExitNoTarget, message);
  llvm::TargetOptions options;
  // A multiply-add is fused only where the program says ad.fma.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu.cpu, cpu.featureString(), options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine)
    return exitError(ExitNoTarget, "LLVM cannot generate code for " + triple.str());
  return std::move(machine);
}

llvm::Error optimize(llvm::Module &module, llvm::TargetMachine &machine) {
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

llvm::Expected<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return exitError(ExitNoTarget, "LLVM cannot write object files for this machine");
  passes.run(module);
  return std::string(object.begin(), object.end());
}

} // namespace

std::string CpuTarget::featureString() const { return llvm::join(features, ","); }

CpuTarget mlir::ad::runner::hostCpu() {
  CpuTarget host{llvm::sys::getHostCPUName().str(), {}};
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    host.features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(host.features);
  return host;
}

llvm::Expected<CpuTarget> mlir::ad::runner::findCpu(llvm::StringRef name) {
  CpuTarget host = hostCpu();
  if (name.empty() || name == "native" || name == host.cpu)
    return host;
  CpuTarget wanted{name.str(), {}};
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine({"generic", {}});
  if (!machine)
    return machine.takeError();
  const llvm::MCSubtargetInfo &generic = *(*machine)->getMCSubtargetInfo();
  if (!generic.isCPUStringValid(name))
    return usageError("unknown processor '" + name + "'; `llc -mcpu=help` lists those that LLVM knows");
  machine = createTargetMachine(wanted);
  if (!machine)
    return machine.takeError();
  for (llvm::StringRef feature : host.features)
    if (feature.consume_front("-") && (*machine)->getMCSubtargetInfo()->checkFeatures(("+" + feature).str()))
      return exitError(ExitNoTarget,
                       "processor '" + name + "' has " + feature + ", which this machine lacks");
  return wanted;
}

llvm::Expected<std::string> mlir::ad::runner::compileToObject(ModuleOp module, const CpuTarget &cpu,
                                                              StageTimes &times) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(cpu);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  {
    StageScope stage(times, "translate");
    code = translateModuleToLLVMIR(module, context, "adjoint");
    if (!code)
      return exitError(ExitProgramError, "internal error: the lowered program does not translate to LLVM IR");
    code->setTargetTriple((*machine)->getTargetTriple());
    code->setDataLayout((*machine)->createDataLayout());
    std::string problem;
    llvm::raw_string_ostream os(problem);
    if (llvm::verifyModule(*code, &os))
      return exitError(ExitProgramError, "internal error: invalid LLVM IR: " + problem);
  }
  {
    StageScope stage(times, "llvm");
    if (llvm::Error error = optimize(*code, **machine))
      return std::move(error);
  }
  StageScope stage(times, "codegen");
  return emitObject(*code, **machine);
}

void mlir::ad::runner::registerCompileDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
