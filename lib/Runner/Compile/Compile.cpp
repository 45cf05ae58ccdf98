// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code generation for the CPU, in parts that threads compile. Expensive passes of the target without a
// benefit are omitted.
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Codegen/Target/CPUs.h"
#include "adjoint/Codegen/Target/MachineCode.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Thread.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Pass.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils/SplitModule.h"
#include <algorithm>
#include <new>

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machineFor(const CpuTarget &cpu) {
  initializeCodegen();
  auto machine = mlir::ad::createTargetMachine(llvm::Triple(llvm::sys::getProcessTriple()), cpu.cpu,
                                               cpu.featureString(), /*isJIT=*/true);
  if (!machine)
    return exitError(ExitNoTarget, llvm::toString(machine.takeError()));
  if (cpu.emulatesGPU)
    (*machine)->setOptLevel(llvm::CodeGenOptLevel::None);
  return machine;
}

/// The code generation passes without loop strength reduction, which takes a third of their time: our kernels
/// compute the addresses of rows outside of inner loops.
class CodegenPasses : public llvm::legacy::PassManager {
public:
  void add(llvm::Pass *pass) override {
    std::unique_ptr<llvm::Pass> owned(pass);
    if (pass->getPassID() != strengthReduction->getPassID())
      PassManager::add(owned.release());
  }

private:
  std::unique_ptr<llvm::Pass> strengthReduction{llvm::createLoopStrengthReducePass()};
};

llvm::Expected<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  CodegenPasses passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return exitError(ExitNoTarget, "LLVM cannot write object files for this machine");
  passes.run(module);
  return std::string(object.begin(), object.end());
}

/// A part of the program that one thread compiles.
struct Part {
  std::string bitcode; // moves the part to an LLVMContext of its thread
  std::string object;
  StageTimes times;
  std::string problem;
  bool lacksMemory = false;
};

llvm::Error compileModule(llvm::Module &module, const CpuTarget &cpu, std::string &object,
                          StageTimes &times) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = machineFor(cpu);
  if (!machine)
    return machine.takeError();
  {
    StageScope stage(times, "llvm");
    if (llvm::Error error = mlir::ad::optimizeModule(module, **machine))
      return error;
  }
  StageScope stage(times, "codegen");
  llvm::Expected<std::string> emitted = emitObject(module, **machine);
  if (!emitted)
    return emitted.takeError();
  object = std::move(*emitted);
  return llvm::Error::success();
}

llvm::Error compileBitcode(Part &part, const CpuTarget &cpu) {
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(part.bitcode, "part"), context);
  return module ? compileModule(**module, cpu, part.object, part.times) : module.takeError();
}

// A thread must not end by an exception.
void compilePart(Part &part, const CpuTarget &cpu) {
  try {
    part.problem = consumeExitError(compileBitcode(part, cpu)).second;
  } catch (const std::bad_alloc &) {
    part.lacksMemory = true;
  }
}

/// How many parts pay off: each has a fixed cost of some milliseconds.
unsigned countParts(const llvm::Module &module) {
  constexpr unsigned instructionsPerPart = 3000, maxParts = 8;
  unsigned useful = module.getInstructionCount() / instructionsPerPart;
  return std::clamp(std::min(useful, adrt::countCPUs()), 1u, maxParts);
}

std::vector<Part> splitModule(llvm::Module &module, unsigned count) {
  std::vector<Part> parts;
  auto take = [&](std::unique_ptr<llvm::Module> split) {
    llvm::raw_string_ostream stream(parts.emplace_back().bitcode);
    llvm::WriteBitcodeToFile(*split, stream);
  };
  llvm::SplitModule(module, count, take, /*PreserveLocals=*/false);
  return parts;
}

/// Compiles on several threads; the time of a stage is that of the slowest thread.
llvm::Expected<std::vector<std::string>> compileParts(llvm::Module &module, unsigned count,
                                                      const CpuTarget &cpu, StageTimes &times) {
  std::vector<Part> parts = splitModule(module, count);
  adrt::runOnThreads(static_cast<unsigned>(parts.size()),
                     [&](unsigned number) { compilePart(parts[number], cpu); });
  if (llvm::any_of(parts, [](const Part &part) { return part.lacksMemory; }))
    throw std::bad_alloc();
  std::vector<std::string> objects;
  for (llvm::StringRef stage : {"llvm", "codegen"}) {
    double slowest = 0;
    for (const Part &part : parts)
      for (const StageTimes::Stage &time : part.times.getStages())
        slowest = time.name == stage ? std::max(slowest, time.seconds) : slowest;
    times.add(stage, slowest);
  }
  for (Part &part : parts) {
    if (!part.problem.empty())
      return exitError(ExitProgramError, part.problem);
    objects.push_back(std::move(part.object));
  }
  return objects;
}

} // namespace

void mlir::ad::runner::initializeCodegen() {
  // LLVM's registry of targets has no lock.
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return llvm::InitializeNativeTargetAsmParser();
  }();
  (void)initialized;
}

std::string CpuTarget::featureString() const { return llvm::join(features, ","); }

CpuTarget mlir::ad::runner::hostCpu() {
  CpuTarget host{llvm::sys::getHostCPUName().str(), {}};
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    bool isUsed = feature.second && feature.first() != ad::kUnusedExtension;
    host.features.push_back((isUsed ? "+" : "-") + feature.first().str());
  }
  llvm::sort(host.features);
  for (llvm::StringRef feature : host.features)
    if (feature.consume_front("+"))
      host.needed.push_back(feature.str());
  auto has = [&](llvm::StringRef feature) { return is_contained(host.features, feature); };
  host.vectorBytes = ad::widestRegisters(has).bytes;
  host.dotProducts = ad::hasDotProducts(has);
  host.halfInstructions = has(ad::kHalfConversions);
  return host;
}

/// LLVM ends the process when it compiles 64-bit code for a CPU without it.
static bool isFor64Bit(llvm::StringRef name) {
  return llvm::Triple(llvm::sys::getProcessTriple()).getArch() != llvm::Triple::x86_64 || name == "generic" ||
         llvm::X86::parseArchX86(name, /*Only64Bit=*/true) != llvm::X86::CK_None;
}

static std::vector<std::string> withoutUnused() {
  bool isX86 = llvm::Triple(llvm::sys::getProcessTriple()).isX86();
  return isX86 ? std::vector<std::string>{"-" + ad::kUnusedExtension.str()} : std::vector<std::string>();
}

llvm::Expected<CpuTarget> mlir::ad::runner::findCpu(llvm::StringRef name, bool elsewhere) {
  CpuTarget host = hostCpu();
  if (name.empty() || name == "native" || name == host.cpu)
    return host;
  CpuTarget wanted{name.str(), withoutUnused()};
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = machineFor({"generic", {}});
  if (!machine)
    return machine.takeError();
  const llvm::MCSubtargetInfo &generic = *(*machine)->getMCSubtargetInfo();
  if (!generic.isCPUStringValid(name))
    return usageError("unknown x86-64 CPU '" + name +
                      "'; `llc -mtriple=x86_64 -mcpu=help` lists those that LLVM knows");
  if (!isFor64Bit(name))
    return usageError("CPU '" + name + "' is none of LLVM's 64-bit CPUs");
  machine = machineFor(wanted);
  if (!machine)
    return machine.takeError();
  const llvm::MCSubtargetInfo &subtarget = *(*machine)->getMCSubtargetInfo();
  auto has = [&](llvm::StringRef feature) { return subtarget.checkFeatures(feature); };
  wanted.vectorBytes = ad::widestRegisters(has).bytes;
  wanted.dotProducts = ad::hasDotProducts(has);
  wanted.halfInstructions = has(ad::kHalfConversions);
  for (llvm::StringRef signedFeature : host.features) {
    llvm::StringRef feature = signedFeature.drop_front();
    if (!has(("+" + feature).str()))
      continue;
    if (signedFeature.front() == '-' && !elsewhere)
      return exitError(ExitNoTarget, "CPU '" + name + "' has " + feature + ", which this machine lacks");
    wanted.needed.push_back(feature.str());
  }
  return wanted;
}

llvm::Expected<std::vector<std::string>>
mlir::ad::runner::compileToObjects(ModuleOp module, const CpuTarget &cpu, StageTimes &times) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = machineFor(cpu);
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
  if (unsigned count = countParts(*code); count > 1)
    return compileParts(*code, count, cpu, times);
  std::vector<std::string> objects(1);
  if (llvm::Error error = compileModule(*code, cpu, objects.front(), times))
    return std::move(error);
  return objects;
}

void mlir::ad::runner::registerCompileDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
