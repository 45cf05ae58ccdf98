// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads objects with ORC. LLJIT gets neither a compiler nor a platform: no IR is compiled here, and both
// would add milliseconds to a start from the cache.
#include "LoadProgram.h"
#include "../Executable/CompiledExecutable.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutOfMemory.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::ad::runner;
namespace orc = llvm::orc;

namespace {

class NoCompiler final : public orc::IRCompileLayer::IRCompiler {
public:
  NoCompiler() : IRCompiler(orc::IRSymbolMapper::ManglingOptions()) {}
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module &) override {
    return exitError(ExitProgramError, "internal error: the loader compiles no IR");
  }
};

/// The bytes of one reservation for all objects: they refer to each other by 32-bit offsets, and separate
/// mappings may be too far apart. Twice the size of the files is more than sections, stubs and padding to
/// pages take.
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

/// Code that the JIT's linker loads, with the errors that it reports.
class LinkedCode final : public LoadedCode {
public:
  explicit LinkedCode(std::unique_ptr<orc::LLJIT> linker) : jit(std::move(linker)) {
    // The error of a lookup does not name the missing symbol; the reporter does.
    jit->getExecutionSession().setErrorReporter([this](llvm::Error error) {
      reasons += (reasons.empty() ? "" : "; ") + llvm::toString(std::move(error));
    });
  }

  llvm::Expected<void *> find(const std::string &symbol) override {
    llvm::Expected<orc::ExecutorAddr> address = jit->lookup(symbol);
    if (address)
      return address->toPtr<void *>();
    std::string failure = llvm::toString(address.takeError());
    return loadError("the compiled program does not link", reasons.empty() ? failure : reasons);
  }

private:
  std::string reasons; // declared before the session, which may report while it is destroyed
  std::unique_ptr<orc::LLJIT> jit;
};

} // namespace

llvm::Expected<std::unique_ptr<Executable>> mlir::ad::runner::loadProgram(const CompiledProgram &program) {
  llvm::Expected<std::unique_ptr<orc::LLJIT>> jit = createLinker(addressSpaceFor(program.objects));
  if (!jit)
    return loadError("there is no linker", llvm::toString(jit.takeError()));
  for (adrt::SymbolTable table : symbolsFor(program))
    if (llvm::Error error = defineSymbols(**jit, table))
      return std::move(error);
  for (const std::string &object : program.objects)
    if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)))
      return std::move(error);
  return makeExecutable(program, std::make_unique<LinkedCode>(std::move(*jit)));
}
