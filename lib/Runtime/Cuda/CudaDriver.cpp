/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Loads the driver. */
#include "CudaDriver.h"
#include "CudaLibrary.h"
#include "adjoint/Support/MemoryCount.h"

#include <dlfcn.h>
#include <set>

using namespace adrt;

namespace {

struct Loaded {
  CudaDriver driver{};
  std::string file, problem;
};

template <class Function> bool resolve(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// The functions that older drivers lack. Only programs with tensor maps or replays need them.
void resolveNewer(void *library, CudaDriver &driver) {
  resolve(library, "cuTensorMapEncodeTiled", driver.cuTensorMapEncodeTiled);
  bool hasGraphs =
      resolve(library, "cuGraphCreate", driver.cuGraphCreate) &&
      resolve(library, "cuGraphDestroy", driver.cuGraphDestroy) &&
      resolve(library, "cuGraphAddKernelNode", driver.cuGraphAddKernelNode) &&
      resolve(library, "cuGraphAddMemcpyNode", driver.cuGraphAddMemcpyNode) &&
      resolve(library, "cuGraphExecKernelNodeSetParams", driver.cuGraphExecKernelNodeSetParams) &&
      resolve(library, "cuGraphExecDestroy", driver.cuGraphExecDestroy) &&
      resolve(library, "cuGraphLaunch", driver.cuGraphLaunch) &&
      resolve(library, "cuGraphInstantiateWithFlags", driver.cuGraphInstantiateWithFlags);
  if (!hasGraphs)
    driver.cuGraphCreate = nullptr;
}

#define ADJOINT_RESOLVE(NAME)                                                                                \
  if (!resolve(library, #NAME, driver.NAME))                                                                 \
  return #NAME

/// Resolves functions of devices, contexts and modules. The first one that the driver lacks, or null.
const char *resolveDevices(void *library, CudaDriver &driver) {
  ADJOINT_RESOLVE(cuInit);
  ADJOINT_RESOLVE(cuGetErrorName);
  ADJOINT_RESOLVE(cuGetErrorString);
  ADJOINT_RESOLVE(cuDeviceGetCount);
  ADJOINT_RESOLVE(cuDeviceGet);
  ADJOINT_RESOLVE(cuDriverGetVersion);
  ADJOINT_RESOLVE(cuDeviceGetName);
  ADJOINT_RESOLVE(cuDeviceTotalMem_v2);
  ADJOINT_RESOLVE(cuDeviceGetAttribute);
  ADJOINT_RESOLVE(cuDevicePrimaryCtxRetain);
  ADJOINT_RESOLVE(cuDevicePrimaryCtxRelease_v2);
  ADJOINT_RESOLVE(cuCtxSetCurrent);
  ADJOINT_RESOLVE(cuModuleLoadDataEx);
  ADJOINT_RESOLVE(cuModuleUnload);
  ADJOINT_RESOLVE(cuModuleGetFunction);
  ADJOINT_RESOLVE(cuFuncSetAttribute);
  return nullptr;
}

/// The same for functions of streams, events and memory.
const char *resolveStreams(void *library, CudaDriver &driver) {
  ADJOINT_RESOLVE(cuStreamCreate);
  ADJOINT_RESOLVE(cuStreamDestroy_v2);
  ADJOINT_RESOLVE(cuStreamSynchronize);
  ADJOINT_RESOLVE(cuStreamWaitEvent);
  ADJOINT_RESOLVE(cuEventCreate);
  ADJOINT_RESOLVE(cuEventDestroy_v2);
  ADJOINT_RESOLVE(cuEventRecord);
  ADJOINT_RESOLVE(cuEventSynchronize);
  ADJOINT_RESOLVE(cuEventQuery);
  ADJOINT_RESOLVE(cuEventElapsedTime);
  ADJOINT_RESOLVE(cuMemHostAlloc);
  ADJOINT_RESOLVE(cuMemFreeHost);
  ADJOINT_RESOLVE(cuMemAlloc_v2);
  ADJOINT_RESOLVE(cuMemFree_v2);
  ADJOINT_RESOLVE(cuMemGetInfo_v2);
  ADJOINT_RESOLVE(cuPointerGetAttribute);
  ADJOINT_RESOLVE(cuMemcpyHtoDAsync_v2);
  ADJOINT_RESOLVE(cuMemcpyDtoHAsync_v2);
  ADJOINT_RESOLVE(cuMemcpyDtoDAsync_v2);
  ADJOINT_RESOLVE(cuMemsetD8Async);
  ADJOINT_RESOLVE(cuLaunchKernel);
  return nullptr;
}

#undef ADJOINT_RESOLVE

/// Why the library is no driver with a GPU; empty if it is one.
std::string start(void *library, CudaDriver &driver) {
  for (auto resolveAll : {resolveDevices, resolveStreams})
    if (const char *missing = resolveAll(library, driver))
      return std::string("it has no ") + missing + ", a newer driver is needed";
  resolveNewer(library, driver);
  int count = 0;
  if (CudaResult result = driver.cuInit(0))
    return driver.explain("cuInit", result);
  if (CudaResult result = driver.cuDeviceGetCount(&count))
    return driver.explain("cuDeviceGetCount", result);
  return count == 0 ? "the driver finds no GPU" : "";
}

/// The message when no library is a driver with a GPU: the failures of the libraries that exist, or else the
/// folders that were searched.
std::string describeFailure(const std::vector<std::string> &names, const std::string &failures,
                            const std::string &reason) {
  if (!failures.empty())
    return failures;
  if (names.size() == 1)
    return "the driver cannot be loaded: " + reason;
  std::string folders = "the loader's folders";
  for (size_t index = 1; index < names.size(); ++index)
    folders += (index + 1 < names.size() ? ", " : " and ") + names[index].substr(0, names[index].rfind('/'));
  return "the driver cannot be loaded: there is no " + names.front() + " in " + folders +
         "; if it is elsewhere, set ADJOINT_LIBCUDA to the library or its folder";
}

/// Loads the first library that is a driver with a GPU. It is never closed: its threads outlive every use.
Loaded load() {
  Loaded loaded;
  std::string reason, failures;
  std::vector<std::string> names = cudaLibraries();
  std::set<void *> seen; // one library may have several names
  for (const std::string &name : names) {
    void *library = openCudaLibrary(name, reason);
    if (!library || !seen.insert(library).second)
      continue;
    loaded.driver = {};
    loaded.file = fileOf(dlsym(library, "cuInit"), name);
    std::string problem = start(library, loaded.driver);
    if (problem.empty())
      return loaded;
    // The message names the library if there may be several, or if it is no CUDA driver.
    bool named = names.size() > 1 || !loaded.driver.cuInit;
    failures += (failures.empty() ? "" : "; ") + (named ? "'" + loaded.file + "': " : "") + problem;
  }
  loaded.problem = describeFailure(names, failures, reason);
  return loaded;
}

const Loaded &loadOnce() {
  static const Loaded loaded = load();
  return loaded;
}

} // namespace

std::string CudaDriver::explain(const char *call, CudaResult result) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  std::string there = result == cudaOutOfMemory ? countMemory().text() : "";
  return std::string(call) + ": " + (name ? name : "error " + std::to_string(result)) +
         (text ? " (" + std::string(text) + ")" : "") + (there.empty() ? "" : ", " + there);
}

MemoryCount CudaDriver::countMemory() const {
  size_t free = 0, total = 0;
  if (cuMemGetInfo_v2(&free, &total))
    return {};
  return {static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

const CudaDriver *adrt::loadCudaDriver(std::string &problem) {
  const Loaded &loaded = loadOnce();
  problem = loaded.problem;
  return problem.empty() ? &loaded.driver : nullptr;
}

const std::string &adrt::cudaDriverFile() { return loadOnce().file; }
