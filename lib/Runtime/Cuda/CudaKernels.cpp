/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "CudaKernels.h"

#include <algorithm>

using namespace adrt;

CudaKernels::~CudaKernels() {
  if (!module)
    return;
  session.enter();
  session.driver.cuModuleUnload(module);
}

std::string CudaKernels::load(const std::string &image, const std::vector<std::string> &names) {
  if (names.empty())
    return "";
  std::string log(4096, '\0');
  int options[] = {cudaJitErrorLog, cudaJitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  session.enter();
  const CudaDriver &driver = session.driver;
  if (CudaResult result = driver.cuModuleLoadDataEx(&module, image.c_str(), 2, options, values))
    return driver.explain("cuModuleLoadDataEx", result) + ": " + log.c_str();
  for (const std::string &name : names) {
    Kernel &kernel = kernels.emplace_back();
    kernel.name = name;
    if (CudaResult result = driver.cuModuleGetFunction(&kernel.function, module, name.c_str()))
      return driver.explain("cuModuleGetFunction", result) + " of '" + name + "'";
  }
  return "";
}

Outcome CudaKernels::prepare(const Launch &launch) {
  if (!contains(launch.kernel))
    return Outcome::failed("internal error: the program launches kernel " + std::to_string(launch.kernel) +
                           " of " + std::to_string(kernels.size()));
  const adrt_grid &grid = launch.grid;
  if (std::any_of(grid.cluster, grid.cluster + 3, [](uint32_t size) { return size > 1; }))
    return Outcome::failed("internal error: the program launches clusters, which this runtime does not");
  Kernel &kernel = kernels[launch.kernel];
  if (grid.shared_bytes <= kernel.sharedBytes)
    return {};
  if (CudaResult result = session.driver.cuFuncSetAttribute(kernel.function, cudaMaxDynamicShared,
                                                            static_cast<int>(grid.shared_bytes)))
    return session.finish("cuFuncSetAttribute", result);
  kernel.sharedBytes = grid.shared_bytes;
  return {};
}

Outcome CudaKernels::launch(const Launch &launch) {
  session.enter();
  if (Outcome outcome = prepare(launch); !outcome.ok())
    return outcome;
  if (Outcome outcome = session.markStart(); !outcome.ok())
    return outcome;
  const adrt_grid &grid = launch.grid;
  session.noteLaunch(name(launch.kernel), launch.site, 1);
  return session.finish("cuLaunchKernel",
                        session.driver.cuLaunchKernel(function(launch.kernel), grid.blocks[0], grid.blocks[1],
                                                      grid.blocks[2], grid.threads[0], grid.threads[1],
                                                      grid.threads[2], grid.shared_bytes,
                                                      session.stream(StreamKind::Compute),
                                                      const_cast<void **>(launch.arguments), nullptr));
}
