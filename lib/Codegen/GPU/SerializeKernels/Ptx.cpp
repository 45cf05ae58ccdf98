// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// PTX by LLVM's own code generator.

#include "Ptx.h"
#include "adjoint/Codegen/Target/MachineCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::ad;

// Declared by LLVM's table of targets; those of this process stay the only others that are set up.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const Chip &chip, StringRef ptx) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  return createTargetMachine(llvm::Triple("nvptx64-nvidia-cuda"), chip.name, ("+" + ptx).str(),
                             /*isJIT=*/false);
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
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> created = createMachine(chip, version);
  if (!created)
    return kernels.emitError(llvm::toString(created.takeError()));
  llvm::TargetMachine &machine = **created;
  if (failed(checkSymbols(kernels)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(kernels, context, kernels.getName());
  if (!code)
    return kernels.emitError("the kernels are not in the LLVM and NVVM dialects; run ad-lower-to-nvvm first");
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (llvm::verifyModule(*code, &os))
    return kernels.emitError("internal error: invalid LLVM IR: ") << problem;
  if (llvm::Error error = optimizeModule(*code, machine))
    return kernels.emitError("internal error: ") << llvm::toString(std::move(error));
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return kernels.emitError("internal error: LLVM cannot write PTX");
  passes.run(*code);
  return std::string(text.begin(), text.end());
}
