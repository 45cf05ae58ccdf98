// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles a file to kernels in this process.
#include "KernelLibrary.h"
#include "adjoint/Emulator/Passes.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Runtime/Host/Symbols.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutOfMemory.h"
#include "adjoint/Support/ParseModule.h"
#include "adjoint/Support/Printable.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::emulator;
namespace orc = llvm::orc;

KernelLibrary::~KernelLibrary() = default;

namespace {

class LinkedKernels final : public KernelLibrary {
public:
  LinkedKernels(std::unique_ptr<orc::LLJIT> jit, std::vector<std::string> names,
                llvm::StringMap<const adsim::KernelCode *> codes)
      : jit(std::move(jit)), names(std::move(names)), codes(std::move(codes)) {}

  const adsim::KernelCode *find(llvm::StringRef kernel) const override { return codes.lookup(kernel); }
  llvm::ArrayRef<std::string> getKernelNames() const override { return names; }

private:
  std::unique_ptr<orc::LLJIT> jit;
  std::vector<std::string> names;
  llvm::StringMap<const adsim::KernelCode *> codes;
};

std::vector<std::string> kernelNames(ModuleOp module) {
  std::vector<std::string> names;
  for (LLVM::GlobalOp global : module.getOps<LLVM::GlobalOp>()) {
    StringRef name = global.getName();
    if (name.consume_front("adsim_code_"))
      names.push_back(name.str());
  }
  return names;
}

llvm::Error addSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  for (adrt::SymbolTable table : {adrt::getSymbols(), adsim::getSymbols()})
    for (const adrt::Symbol &symbol : table)
      symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                   llvm::JITSymbolFlags::Exported};
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

llvm::Expected<std::unique_ptr<orc::LLJIT>> link(llvm::ArrayRef<std::string> objects) {
  llvm::Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder()
                                                        .setLinkProcessSymbolsByDefault(false)
                                                        .setPlatformSetUp(orc::setUpInactivePlatform)
                                                        .create();
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = addSymbols(**jit))
    return std::move(error);
  for (const std::string &object : objects)
    if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)))
      return std::move(error);
  return jit;
}

} // namespace

llvm::Expected<std::unique_ptr<KernelLibrary>> KernelLibrary::create(ModuleOp lowered) {
  runner::StageTimes times;
  runner::initializeCodegen();
  llvm::Expected<std::vector<std::string>> objects =
      runner::compileToObjects(lowered, runner::hostCpu(), times);
  if (!objects)
    return objects.takeError();
  llvm::Expected<std::unique_ptr<orc::LLJIT>> jit = link(*objects);
  if (!jit)
    return jit.takeError();
  std::string reasons; // the lookup itself only reports that it failed
  (*jit)->getExecutionSession().setErrorReporter(
      [&reasons](llvm::Error error) { reasons += llvm::toString(std::move(error)) + "; "; });
  llvm::StringMap<const adsim::KernelCode *> codes;
  std::vector<std::string> names = kernelNames(lowered);
  for (const std::string &name : names) {
    llvm::Expected<orc::ExecutorAddr> code = (*jit)->lookup("adsim_code_" + name);
    if (!code)
      return runner::loadError("the kernel does not link", reasons + llvm::toString(code.takeError()));
    codes[name] = code->toPtr<const adsim::KernelCode *>();
  }
  (*jit)->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  return std::make_unique<LinkedKernels>(std::move(*jit), std::move(names), std::move(codes));
}

llvm::Expected<std::unique_ptr<KernelLibrary>> mlir::ad::emulator::loadKernels(llvm::StringRef path) {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &problem);
  if (!buffer)
    return runner::usageError(problem);
  DialectRegistry registry;
  registry.insert<DLTIDialect, gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  runner::registerCompileDialects(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources(noFiles());
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context, printableErrors());
  OwningOpRef<ModuleOp> module = parseModule(sources, &context);
  if (!module)
    return runner::exitError(runner::ExitProgramError, "");
  PassManager passes(&context);
  passes.addPass(createLowerToEmulatorPass());
  if (failed(passes.run(*module)))
    return runner::exitError(runner::ExitProgramError, "");
  return KernelLibrary::create(*module);
}
