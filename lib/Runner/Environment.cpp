// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Prints versions, the machine and the build.
#include "Environment.h"
#include "Cache/ObjectCache.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::ad::runner;

namespace {

/// The model name that the kernel reports; LLVM gives the microarchitecture only.
std::string cpuBrand() {
  auto info = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!info)
    return "";
  llvm::StringRef rest = (*info)->getBuffer();
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    rest = next;
    if (line.starts_with("model name"))
      return line.split(':').second.trim().str();
  }
  return "";
}

std::string describeCache(const Options &options) {
  if (options.cache == "off")
    return "off";
  std::string directory = options.cache.empty() ? ObjectCache::defaultDirectory() : options.cache, warning;
  if (directory.empty())
    return "off: neither XDG_CACHE_HOME nor HOME is set";
  return ObjectCache::open(directory, warning) ? directory : "off: " + warning;
}

} // namespace

void mlir::ad::runner::printVersion(llvm::raw_ostream &os) {
  os << "ad-runner " << ADJOINT_VERSION << " (LLVM " << LLVM_VERSION_STRING << ")\n";
}

void mlir::ad::runner::printEnvironment(llvm::raw_ostream &os, const Options &options) {
  CpuTarget host = hostCpu();
  std::string brand = cpuBrand();
  printVersion(os);
  os << "machine: " << llvm::sys::getProcessTriple() << "\n";
  os << "CPU: " << host.cpu << (brand.empty() ? "" : " (" + brand + ")") << ", " << adrt::countCPUs()
     << " threads\n";
  os << "features:";
  for (llvm::StringRef feature : host.features)
    if (feature.consume_front("+"))
      os << ' ' << feature;
  os << "\n" << adrt::describeCuda();
  os << "threads used: " << resolveThreads(options.threads) << "\n";
  os << "cache: " << describeCache(options) << "\n";
  os << "build: " << buildId() << "\n";
}
