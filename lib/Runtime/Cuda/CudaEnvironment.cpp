/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Describes the driver and its GPUs. */
#include "CudaDriver.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"

using namespace adrt;

std::string adrt::findCudaProblem() {
  std::string problem;
  loadCudaDriver(problem);
  return problem;
}

std::string adrt::findCudaChip() {
  std::string problem;
  const CudaDriver *driver = loadCudaDriver(problem);
  CudaDeviceNumber number = 0;
  int major = 0, minor = 0;
  if (!driver || driver->cuDeviceGet(&number, 0) ||
      driver->cuDeviceGetAttribute(&major, cudaDeviceMajor, number) ||
      driver->cuDeviceGetAttribute(&minor, cudaDeviceMinor, number))
    return "";
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

std::string adrt::findCudaName() {
  std::string problem;
  const CudaDriver *driver = loadCudaDriver(problem);
  char name[256] = "?";
  int version = 0;
  if (!driver || driver->cuDeviceGetName(name, sizeof name, 0) || driver->cuDriverGetVersion(&version))
    return "";
  return std::string(name) + ", CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string adrt::describeCuda() {
  std::string text;
  const CudaDriver *driver = loadCudaDriver(text);
  if (!driver)
    return "GPU: none: " + text + "\n";
  int version = 0, count = 0;
  driver->cuDriverGetVersion(&version);
  driver->cuDeviceGetCount(&count);
  text = "GPU driver: CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) +
         ", " + cudaDriverFile() + "\n";
  for (int number = 0; number < count; ++number) {
    auto attributeOf = [&](int attribute) {
      int value = 0;
      driver->cuDeviceGetAttribute(&value, attribute, number);
      return value;
    };
    char name[256] = "?";
    size_t bytes = 0;
    driver->cuDeviceGetName(name, sizeof name, number);
    driver->cuDeviceTotalMem_v2(&bytes, number);
    text += "GPU " + std::to_string(number) + ": " + name + ", sm_" +
            std::to_string(attributeOf(cudaDeviceMajor)) + std::to_string(attributeOf(cudaDeviceMinor)) +
            ", " + std::to_string(attributeOf(cudaDeviceMultiprocessors)) + " SMs, " +
            std::to_string(bytes >> 20) + " MiB; a block has at most " +
            std::to_string(attributeOf(cudaDeviceThreadsOfBlock)) + " threads, " +
            std::to_string(attributeOf(cudaDeviceRegistersOfBlock)) + " registers and " +
            std::to_string(attributeOf(cudaDeviceSharedOfBlock)) + " bytes of shared memory\n";
  }
  return text;
}
