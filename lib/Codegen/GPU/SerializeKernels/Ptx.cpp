// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// PTX by LLVM's own code generator. The pass list is that of the CPU (Compile.cpp): our code is vectorized
// already, and no pass may change the rounding of float arithmetic.

#include "Ptx.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;
using namespace mlir::ad;

// Declared by LLVM's table of targets; those of this process stay the only others that are set up.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static constexpr llvm::StringLiteral
    passPipeline("function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
                 "loop-mssa(licm),early-cse<memssa>)");

static std::unique_ptr<llvm::TargetMachine> createMachine(const Chip &chip, StringRef ptx) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // Only ad.fma is an FMA.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, chip.name, ("+" + ptx).str(), options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

static LogicalResult optimize(llvm::Module &module, llvm::TargetMachine &machine) {
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
  if (llvm::Error error = builder.parsePassPipeline(passes, passPipeline)) {
    llvm::consumeError(std::move(error));
    return failure();
  }
  passes.run(module, modules);
  return success();
}

// LLVM ends the process when it cannot write a module. These checks refuse such modules first.

static bool canWriteName(StringRef name, bool allowsDots) {
  return llvm::all_of(
      name, [&](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || (c == '.' && allowsDots); });
}

static LogicalResult checkFunction(LLVM::LLVMFuncOp function) {
  // Intrinsics of LLVM have names with dots.
  bool isKernel = function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
  if (!canWriteName(function.getName(), /*allowsDots=*/!isKernel))
    return function.emitOpError("has a name that PTX cannot write, expected letters, digits, _ and $");
  return success();
}

static LogicalResult checkGlobal(LLVM::GlobalOp global) {
  // LLVM gives variables of the module other names where PTX cannot write them.
  bool isLocal = llvm::is_contained({LLVM::Linkage::Internal, LLVM::Linkage::Private}, global.getLinkage());
  if (!isLocal && !canWriteName(global.getName(), /*allowsDots=*/false))
    return global.emitOpError("has a name that PTX cannot write, expected letters, digits, _ and $");
  Attribute value = global.getValueAttr();
  bool isInitialized = global.getInitializerBlock() || (value && !isa<LLVM::UndefAttr>(value));
  if (global.getAddrSpace() == device::kSharedSpace && isInitialized)
    return global.emitOpError(
        "initializes shared memory, which a GPU cannot do; store into it in the kernel");
  return success();
}

static LogicalResult checkSymbols(::mlir::gpu::GPUModuleOp kernels) {
  for (Operation &op : kernels.getOps()) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (function && failed(checkFunction(function)))
      return failure();
    auto global = dyn_cast<LLVM::GlobalOp>(op);
    if (global && failed(checkGlobal(global)))
      return failure();
  }
  return success();
}

static bool multipliesByteFloats(LLVM::CallIntrinsicOp call) {
  StringRef name = call.getIntrin();
  return name.starts_with("llvm.nvvm.mma.m16n8k32.row.col.f32.e");
}

FailureOr<StringRef> ad::ptxVersionFor(::mlir::gpu::GPUModuleOp kernels, const Chip &chip) {
  StringRef version = chip.ptx;
  WalkResult result = kernels.walk([&](LLVM::CallIntrinsicOp call) -> WalkResult {
    if (!multipliesByteFloats(call))
      return WalkResult::advance();
    version = chip.ptxOfByteFloats;
    if (version.empty())
      return call.emitOpError("multiplies 8-bit floats by an instruction that ")
             << chip.name << " does not have; run ad-emit-gpu for this chip";
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? FailureOr<StringRef>(failure()) : version;
}

FailureOr<std::string> ad::emitPtx(::mlir::gpu::GPUModuleOp kernels, const Chip &chip, StringRef version) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(chip, version);
  if (!machine)
    return kernels.emitError("this build of LLVM has no code generator for NVPTX");
  if (failed(checkSymbols(kernels)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(kernels, context, kernels.getName());
  if (!code)
    return kernels.emitError("the kernels are not in the LLVM and NVVM dialects; run ad-lower-to-nvvm first");
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (llvm::verifyModule(*code, &os))
    return kernels.emitError("internal error: invalid LLVM IR: ") << problem;
  if (failed(optimize(*code, *machine)))
    return kernels.emitError("internal error: LLVM does not know the passes of the pipeline");
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return kernels.emitError("internal error: LLVM cannot write PTX");
  passes.run(*code);
  return std::string(text.begin(), text.end());
}
