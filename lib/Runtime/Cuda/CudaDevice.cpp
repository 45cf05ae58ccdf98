/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The device of the CUDA driver: memory and copies on the compute stream, and the components that have state
   of their own. The host waits only when it reads. */
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "../Host/TiledTensor.h"
#include "CudaGraph.h"
#include "CudaStreams.h"
#include "CudaTensorMap.h"

#include <algorithm>

using namespace adrt;

namespace {

class CudaDevice final : public Device {
public:
  explicit CudaDevice(const CudaDriver &driver) : driver(driver), session(driver) {}
  std::string open(const std::string &image, const std::vector<std::string> &names);

  void *allocate(int64_t bytes) override;
  Outcome explainFailure(const std::string &purpose) const override;
  MemoryCount countMemory() const override;
  void release(void *memory) override;
  Outcome requireMemory(const void *memory, int64_t bytes) override;
  Outcome waitForForeignStream(uintptr_t stream) override;
  Outcome write(void *target, const void *source, int64_t bytes) override;
  Outcome read(void *target, const void *source, int64_t bytes) override;
  Outcome copy(void *target, const void *source, int64_t bytes) override;
  Outcome fill(void *target, uint8_t value, int64_t bytes) override;
  Outcome describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) override;
  const char *kernelName(int32_t kernel) const override {
    return kernels.contains(kernel) ? kernels.name(kernel).c_str() : "";
  }
  Outcome launch(const Launch &launch) override { return kernels.launch(launch); }
  int32_t smCount() const override { return multiprocessors; }
  Outcome synchronize() override { return session.synchronize(); }
  Streams &getStreams() override { return streams; }
  Graphs *getGraphs() override { return &graphs; }
  Outcome startClock() override { return session.startClock(); }
  Outcome stopClock(double &seconds) override { return session.stopClock(seconds); }
  const char *clockName() const override { return "cuda events"; }

private:
  static CudaAddress address(const void *memory) { return CudaSession::address(memory); }
  void *computeStream() const { return session.stream(StreamKind::Compute); }

  const CudaDriver &driver;
  CudaSession session; // outlives the others
  CudaKernels kernels{session};
  CudaStreams streams{session};
  CudaGraphs graphs{session, kernels};
  CudaResult allocated = 0;  // of the last allocation
  int multiprocessors = 128; // of a large GPU, if the driver does not say; results are the same
};

} // namespace

std::string CudaDevice::open(const std::string &image, const std::vector<std::string> &names) {
  if (std::string problem = session.open(); !problem.empty())
    return problem;
  int count = 0;
  if (driver.cuDeviceGetAttribute(&count, cudaDeviceMultiprocessors, session.number) == 0 && count > 0)
    multiprocessors = count;
  return kernels.load(image, names);
}

void *CudaDevice::allocate(int64_t bytes) {
  allocated = cudaOutOfMemory;
  if (bytes < 0)
    return nullptr;
  session.enter();
  CudaAddress memory = 0;
  allocated = driver.cuMemAlloc_v2(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  return allocated == 0 ? reinterpret_cast<void *>(memory) : nullptr;
}

// The call also returns errors of earlier kernels.
Outcome CudaDevice::explainFailure(const std::string &purpose) const {
  return allocated == cudaOutOfMemory ? Device::explainFailure(purpose)
                                      : session.finish("cuMemAlloc", allocated);
}

MemoryCount CudaDevice::countMemory() const {
  session.enter();
  return driver.countMemory();
}

void CudaDevice::release(void *memory) {
  session.enter();
  driver.cuMemFree_v2(address(memory)); // waits
}

// The driver knows allocations of all libraries of the process, but not where in them a tensor may end.
Outcome CudaDevice::requireMemory(const void *memory, int64_t bytes) {
  if (bytes == 0)
    return {};
  session.enter();
  unsigned kind = 0;
  CudaResult result = driver.cuPointerGetAttribute(&kind, cudaPointerMemory, address(memory));
  if (result != 0 && result != cudaInvalidValue)
    return session.finish("cuPointerGetAttribute", result);
  if (result == 0 && kind == cudaMemoryOfDevice)
    return {};
  return {ADRT_HOST_ERROR, "it is not in the memory of the GPU"};
}

Outcome CudaDevice::waitForForeignStream(uintptr_t stream) {
  session.enter();
  return session.finish("cuStreamSynchronize", driver.cuStreamSynchronize(reinterpret_cast<void *>(stream)));
}

Outcome CudaDevice::write(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  session.enter();
  countCopyToDevice();
  // The driver copies pageable memory to a buffer of its own before it returns.
  return session.finish(
      "cuMemcpyHtoDAsync",
      driver.cuMemcpyHtoDAsync_v2(address(target), source, static_cast<size_t>(bytes), computeStream()));
}

Outcome CudaDevice::read(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  session.enter();
  countCopyToHost();
  Outcome outcome = session.finish(
      "cuMemcpyDtoHAsync",
      driver.cuMemcpyDtoHAsync_v2(target, address(source), static_cast<size_t>(bytes), computeStream()));
  return outcome.ok() ? session.finish("cuStreamSynchronize", driver.cuStreamSynchronize(computeStream()))
                      : outcome;
}

Outcome CudaDevice::copy(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  session.enter();
  if (Outcome outcome = session.markStart(); !outcome.ok())
    return outcome;
  return session.finish("cuMemcpyDtoDAsync",
                        driver.cuMemcpyDtoDAsync_v2(address(target), address(source),
                                                    static_cast<size_t>(bytes), computeStream()));
}

Outcome CudaDevice::fill(void *target, uint8_t value, int64_t bytes) {
  if (bytes == 0)
    return {};
  session.enter();
  return session.finish(
      "cuMemsetD8Async",
      driver.cuMemsetD8Async(address(target), value, static_cast<size_t>(bytes), computeStream()));
}

Outcome CudaDevice::describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) {
  if (!driver.cuTensorMapEncodeTiled)
    return Outcome::failed("the driver has no cuTensorMapEncodeTiled; a newer one is needed");
  if (!TiledTensor::canDescribe(tensor))
    return Outcome::failed("internal error: a tensor map of " + std::to_string(tensor.rank) + " axes");
  session.enter();
  return session.finish(encodeTensorMap(driver, map, tensor, tiles));
}

std::unique_ptr<Device> adrt::makeCudaDevice(const std::string &image,
                                             const std::vector<std::string> &kernels, std::string &problem) {
  const CudaDriver *driver = loadCudaDriver(problem);
  if (!driver)
    return nullptr;
  auto device = std::make_unique<CudaDevice>(*driver);
  problem = device->open(image, kernels);
  return problem.empty() ? std::unique_ptr<Device>(std::move(device)) : nullptr;
}
