// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the entry and the kernels of a program in its code, and makes its device.
#include "CompiledExecutable.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/Host/Symbols.h"
#include "adjoint/Runtime/Replay/GraphReplayDevice.h"
#include "adjoint/Runtime/Sim/SimDevice.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/SymbolName.h"
#include "llvm/ADT/STLExtras.h"

#include <atomic>

using namespace mlir::ad::runner;

Executable::~Executable() = default;
LoadedCode::~LoadedCode() = default;

namespace {

std::atomic<uint64_t> executables{0};

class CompiledExecutable final : public Executable {
public:
  /// Makes the device; null, with the reason in `problem`, when there is none.
  using DeviceMaker = std::function<std::unique_ptr<adrt::Device>(
      const adrt::Emulation &emulation, std::vector<adrt::KernelTraffic> *traffic, std::string &problem)>;
  /// `makeDevice` is empty when the CPU runs the kernels.
  CompiledExecutable(std::unique_ptr<LoadedCode> code, adrt_entry entry, std::vector<std::string> kernels,
                     DeviceMaker makeDevice)
      : code(std::move(code)), entry(entry), kernels(std::move(kernels)), makeDevice(std::move(makeDevice)) {}

  int32_t run(adrt_context &context, llvm::ArrayRef<adrt_tensor> arguments,
              llvm::MutableArrayRef<adrt_tensor> results) override {
    if (int32_t status = prepare(context); status != ADRT_OK)
      return status;
    context.resultCount = results.size();
    int32_t status = context.run(entry, arguments.data(), results.data());
    for (auto [index, result] : llvm::enumerate(results))
      if (status == ADRT_OK && !result.data)
        return context.fail(ADRT_HOST_ERROR, nullptr,
                            "the compiled program lacks result " + std::to_string(index));
    return status;
  }
  int32_t prepare(adrt_context &context) override {
    std::string problem = prepareDevice(context);
    if (problem.empty())
      return ADRT_OK;
    return context.run([&] { return context.fail(ADRT_TARGET_ERROR, nullptr, problem); });
  }
  llvm::ArrayRef<std::string> getKernelNames() const override { return kernels; }
  void setEmulation(const adrt::Emulation &wanted, bool countTraffic) override {
    emulation = wanted;
    countsTraffic = countTraffic;
  }
  llvm::ArrayRef<adrt::KernelTraffic> getTraffic() const override { return traffic; }

private:
  /// Makes the device unless the context has it from an earlier run. Returns the problem, empty if there is
  /// none.
  std::string prepareDevice(adrt_context &context) {
    uint64_t present = context.getDevice() ? context.getDevice()->program : 0;
    if (present == (makeDevice ? number : 0))
      return "";
    std::string problem;
    std::unique_ptr<adrt::Device> device;
    emulation.hostThreads = context.getThreads();
    if (makeDevice)
      device = makeDevice(emulation, countsTraffic ? &traffic : nullptr, problem);
    if (device && context.replays)
      device = adrt::makeGraphReplayDevice(std::move(device), context.warn);
    if (device)
      device->program = number;
    context.setDevice(std::move(device));
    return problem;
  }

  std::unique_ptr<LoadedCode> code;
  adrt_entry entry;
  std::vector<std::string> kernels;
  DeviceMaker makeDevice;
  const uint64_t number = ++executables;
  adrt::Emulation emulation;
  bool countsTraffic = false;
  std::vector<adrt::KernelTraffic> traffic;
};

bool isEmulated(const CompiledProgram &program) { return program.device == targetName(Target::GpuSim); }

} // namespace

std::vector<adrt::SymbolTable> mlir::ad::runner::symbolsFor(const CompiledProgram &program) {
  std::vector<adrt::SymbolTable> tables{adrt::getSymbols()};
  if (isEmulated(program))
    tables.push_back(adsim::getSymbols());
  return tables;
}

std::vector<std::string> mlir::ad::runner::partsOf(const CompiledProgram &program) {
  std::vector<std::string> symbols{adrt::entrySymbol(program.signature.entry)};
  if (isEmulated(program))
    for (const std::string &kernel : program.kernels)
      symbols.push_back("adsim_code_" + kernel);
  return symbols;
}

llvm::Expected<std::unique_ptr<Executable>>
mlir::ad::runner::makeExecutable(const CompiledProgram &program, std::unique_ptr<LoadedCode> code) {
  std::vector<void *> parts;
  for (const std::string &symbol : partsOf(program)) {
    llvm::Expected<void *> address = code->find(symbol);
    if (!address)
      return address.takeError();
    parts.push_back(*address);
  }
  CompiledExecutable::DeviceMaker makeDevice;
  if (isEmulated(program)) {
    std::vector<const adsim::KernelCode *> kernels;
    for (void *part : llvm::ArrayRef(parts).drop_front())
      kernels.push_back(static_cast<const adsim::KernelCode *>(part));
    makeDevice = [kernels](const adrt::Emulation &emulation, std::vector<adrt::KernelTraffic> *traffic,
                           std::string &) { return adrt::makeSimDevice(kernels, emulation, traffic); };
  } else if (!program.device.empty()) {
    makeDevice = [image = program.image, kernels = program.kernels](
                     const adrt::Emulation &, std::vector<adrt::KernelTraffic> *, std::string &problem) {
      return adrt::makeCudaDevice(image, kernels, problem);
    };
  }
  return std::make_unique<CompiledExecutable>(std::move(code), reinterpret_cast<adrt_entry>(parts.front()),
                                              program.kernels, std::move(makeDevice));
}
