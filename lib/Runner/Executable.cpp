// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads objects with ORC. No IR is compiled here, so LLJIT gets neither a compiler nor a platform: both cost
// milliseconds that a start from the cache does not have.
#include "adjoint/Runner/Executable.h"
#include "adjoint/Runner/Compile.h"
#include "adjoint/Runner/Error.h"
#include "adjoint/Runner/Options.h"
#include "adjoint/Runtime/CudaDevice.h"
#include "adjoint/Runtime/SimDevice.h"
#include "adjoint/Runtime/Symbols.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::ad::runner;
namespace orc = llvm::orc;

Executable::~Executable() = default;

std::string mlir::ad::runner::entrySymbol(llvm::StringRef entry) { return ("adrt_entry_" + entry).str(); }

namespace {

class CompiledExecutable final : public Executable {
public:
  /// Null and the reason when there is no device to run on.
  using DeviceMaker = std::function<std::unique_ptr<adrt::Device>(unsigned threads, std::string &problem)>;
  /// `makeDevice` is empty when the processor runs the kernels.
  CompiledExecutable(std::unique_ptr<orc::LLJIT> jit, adrt_entry entry, std::vector<std::string> kernels,
                     DeviceMaker makeDevice)
      : jit(std::move(jit)), entry(entry), kernels(std::move(kernels)), makeDevice(std::move(makeDevice)) {}

  int32_t run(adrt_context &context, llvm::ArrayRef<adrt_tensor> arguments,
              llvm::MutableArrayRef<adrt_tensor> results) override {
    if (std::string problem = prepareDevice(context); !problem.empty())
      return context.run([&] { return context.fail(ADRT_HOST_ERROR, nullptr, problem); });
    return context.run(entry, arguments.data(), results.data());
  }
  llvm::ArrayRef<std::string> getKernelNames() const override { return kernels; }

private:
  /// A context keeps the device of a program from run to run. Returns why there is none.
  std::string prepareDevice(adrt_context &context) {
    const void *present = context.getDevice() ? context.getDevice()->program : nullptr;
    if (present == (makeDevice ? this : nullptr))
      return "";
    std::string problem;
    std::shared_ptr<adrt::Device> device = makeDevice ? makeDevice(context.getThreads(), problem) : nullptr;
    if (device)
      device->program = this;
    context.setDevice(std::move(device));
    return problem;
  }

  std::unique_ptr<orc::LLJIT> jit;
  adrt_entry entry;
  std::vector<std::string> kernels;
  DeviceMaker makeDevice;
};

class NoCompiler final : public orc::IRCompileLayer::IRCompiler {
public:
  NoCompiler() : IRCompiler(orc::IRSymbolMapper::ManglingOptions()) {}
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module &) override {
    return exitError(ExitProgramError, "internal error: the loader compiles no IR");
  }
};

/// One stretch of address space for all objects: they refer to each other by 32-bit distances, and separate
/// mappings may lie anywhere. Twice the files is more than sections, stubs and the ends of pages take.
size_t addressSpaceFor(llvm::ArrayRef<std::string> objects) {
  size_t bytes = size_t(16) << 20;
  for (const std::string &object : objects)
    bytes += 2 * object.size();
  return bytes;
}

llvm::Expected<std::unique_ptr<orc::LLJIT>> createLinker(size_t addressSpace) {
  initializeCodegen();
  orc::JITTargetMachineBuilder target((llvm::Triple(llvm::sys::getProcessTriple())));
  return orc::LLJITBuilder()
      .setJITTargetMachineBuilder(std::move(target))
      .setLinkProcessSymbolsByDefault(false)
      .setPlatformSetUp(orc::setUpInactivePlatform)
      .setCompileFunctionCreator(
          [](auto) -> llvm::Expected<std::unique_ptr<orc::IRCompileLayer::IRCompiler>> {
            return std::make_unique<NoCompiler>();
          })
      .setObjectLinkingLayerCreator(
          [=](orc::ExecutionSession &session) -> llvm::Expected<std::unique_ptr<orc::ObjectLayer>> {
            auto memory =
                orc::MapperJITLinkMemoryManager::CreateWithMapper<orc::InProcessMemoryMapper>(addressSpace);
            if (!memory)
              return memory.takeError();
            return std::make_unique<orc::ObjectLinkingLayer>(session, std::move(*memory));
          })
      .create();
}

llvm::Error defineSymbols(orc::LLJIT &jit, adrt::SymbolTable table) {
  orc::SymbolMap symbols;
  for (const adrt::Symbol &symbol : table)
    symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                 llvm::JITSymbolFlags::Exported};
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

} // namespace

llvm::Expected<std::unique_ptr<Executable>> mlir::ad::runner::loadProgram(const CompiledProgram &program) {
  llvm::Expected<std::unique_ptr<orc::LLJIT>> jit = createLinker(addressSpaceFor(program.objects));
  if (!jit)
    return jit.takeError();
  // The lookup says only that it failed; which symbol is missing comes through the reporter.
  std::string reasons;
  (*jit)->getExecutionSession().setErrorReporter([&reasons](llvm::Error error) {
    reasons += (reasons.empty() ? "" : "; ") + llvm::toString(std::move(error));
  });
  if (llvm::Error error = defineSymbols(**jit, adrt::getSymbols()))
    return std::move(error);
  bool emulated = program.device == targetName(Target::GpuSim);
  if (emulated)
    if (llvm::Error error = defineSymbols(**jit, adsim::getSymbols()))
      return std::move(error);
  for (const std::string &object : program.objects)
    if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)))
      return std::move(error);
  auto explain = [&reasons](llvm::Error error) {
    std::string failure = llvm::toString(std::move(error));
    return exitError(ExitProgramError, "internal error: the compiled program does not link: " +
                                           (reasons.empty() ? failure : reasons));
  };
  llvm::Expected<orc::ExecutorAddr> entry = (*jit)->lookup(entrySymbol(program.signature.entry));
  if (!entry)
    return explain(entry.takeError());
  std::vector<const adsim::KernelCode *> codes;
  for (const std::string &kernel : emulated ? program.kernels : std::vector<std::string>()) {
    llvm::Expected<orc::ExecutorAddr> code = (*jit)->lookup("adsim_code_" + kernel);
    if (!code)
      return explain(code.takeError());
    codes.push_back(code->toPtr<const adsim::KernelCode *>());
  }
  // The session outlives this function and its string.
  (*jit)->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  CompiledExecutable::DeviceMaker makeDevice;
  if (emulated)
    makeDevice = [codes](unsigned threads, std::string &) { return adrt::makeSimDevice(codes, threads); };
  else if (!program.device.empty())
    makeDevice = [image = program.image, kernels = program.kernels](unsigned, std::string &problem) {
      return adrt::makeCudaDevice(image, kernels, problem);
    };
  return std::make_unique<CompiledExecutable>(std::move(*jit), entry->toPtr<adrt_entry>(), program.kernels,
                                              std::move(makeDevice));
}
