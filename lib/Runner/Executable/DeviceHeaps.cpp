// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "adjoint/Runner/DeviceHeaps.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Runtime/Sim/SimDevice.h"

using namespace mlir::ad::runner;

/// Null for targets of the host.
static std::unique_ptr<adrt::Device> makeMemory(const std::string &target, std::string &problem) {
  if (target == targetName(Target::GpuSim))
    return adrt::makeSharedSimMemory();
  if (target == targetName(Target::Cuda))
    return adrt::makeCudaDevice(/*image=*/"", /*kernels=*/{}, problem);
  return nullptr;
}

std::shared_ptr<adrt::DeviceHeap> mlir::ad::runner::getDeviceHeap(const std::string &target,
                                                                  std::string &problem) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<adrt::DeviceHeap>> heaps;
  std::lock_guard<std::mutex> lock(mutex);
  problem.clear();
  std::weak_ptr<adrt::DeviceHeap> &known = heaps[target];
  if (std::shared_ptr<adrt::DeviceHeap> heap = known.lock())
    return heap;
  std::unique_ptr<adrt::Device> device = makeMemory(target, problem);
  if (!device)
    return nullptr;
  auto heap = std::make_shared<adrt::DeviceHeap>(target, std::move(device));
  known = heap;
  return heap;
}
