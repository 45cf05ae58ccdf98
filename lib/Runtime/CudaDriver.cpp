/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Finds the driver. */
#include "CudaDriver.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace adrt;

namespace {

struct Loaded {
  CudaDriver driver{};
  std::string problem;
};

template <class Function> bool resolve(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// What older drivers lack, and programs without tensor maps or without replays do not ask for.
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

/// The first function that the driver lacks, or null.
const char *resolveNeeded(void *library, CudaDriver &driver) {
#define ADJOINT_RESOLVE(NAME)                                                                                \
  if (!resolve(library, #NAME, driver.NAME))                                                                 \
  return #NAME
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
  ADJOINT_RESOLVE(cuStreamCreate);
  ADJOINT_RESOLVE(cuStreamDestroy_v2);
  ADJOINT_RESOLVE(cuStreamSynchronize);
  ADJOINT_RESOLVE(cuStreamWaitEvent);
  ADJOINT_RESOLVE(cuEventCreate);
  ADJOINT_RESOLVE(cuEventDestroy_v2);
  ADJOINT_RESOLVE(cuEventRecord);
  ADJOINT_RESOLVE(cuEventSynchronize);
  ADJOINT_RESOLVE(cuEventQuery);
  ADJOINT_RESOLVE(cuMemHostAlloc);
  ADJOINT_RESOLVE(cuMemFreeHost);
  ADJOINT_RESOLVE(cuMemAlloc_v2);
  ADJOINT_RESOLVE(cuMemFree_v2);
  ADJOINT_RESOLVE(cuMemcpyHtoDAsync_v2);
  ADJOINT_RESOLVE(cuMemcpyDtoHAsync_v2);
  ADJOINT_RESOLVE(cuMemcpyDtoDAsync_v2);
  ADJOINT_RESOLVE(cuMemsetD8Async);
  ADJOINT_RESOLVE(cuLaunchKernel);
#undef ADJOINT_RESOLVE
  return nullptr;
}

/// The library stays open: its threads outlive every use.
Loaded load() {
  Loaded loaded;
  const char *named = std::getenv("ADJOINT_LIBCUDA");
  const char *name = named ? named : "libcuda.so.1";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    loaded.problem = "the driver cannot be loaded: " + std::string(reason ? reason : name);
    return loaded;
  }
  if (const char *missing = resolveNeeded(library, loaded.driver)) {
    loaded.problem = "'" + std::string(name) + "' has no " + missing + "; a newer driver is needed";
    return loaded;
  }
  resolveNewer(library, loaded.driver);
  int count = 0;
  CudaResult result = loaded.driver.cuInit(0);
  if (result)
    loaded.problem = loaded.driver.explain("cuInit", result);
  else if ((result = loaded.driver.cuDeviceGetCount(&count)))
    loaded.problem = loaded.driver.explain("cuDeviceGetCount", result);
  else if (count == 0)
    loaded.problem = "the driver finds no GPU";
  return loaded;
}

} // namespace

std::string CudaDriver::explain(const char *call, CudaResult result) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  return std::string(call) + ": " + (name ? name : "error " + std::to_string(result)) +
         (text ? " (" + std::string(text) + ")" : "");
}

const CudaDriver *adrt::loadCudaDriver(std::string &problem) {
  static const Loaded loaded = load();
  problem = loaded.problem;
  return problem.empty() ? &loaded.driver : nullptr;
}
