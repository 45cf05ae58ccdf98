/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The module of a program and its kernels, by number. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDAKERNELS_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDAKERNELS_H

#include "CudaSession.h"

#include <vector>

namespace adrt {

class CudaKernels {
public:
  explicit CudaKernels(CudaSession &session) : session(session) {}
  ~CudaKernels();
  CudaKernels(const CudaKernels &) = delete;
  CudaKernels &operator=(const CudaKernels &) = delete;

  /// Loads a module of PTX or machine code. Returns the problem, empty if there is none.
  std::string load(const std::string &image, const std::vector<std::string> &names);
  bool contains(int32_t kernel) const { return kernel >= 0 && static_cast<size_t>(kernel) < kernels.size(); }
  const std::string &name(int32_t kernel) const { return kernels[kernel].name; }
  void *function(int32_t kernel) const { return kernels[kernel].function; }
  /// Checks the launch, and raises the kernel's limit of dynamic shared memory to the launch's.
  Outcome prepare(const Launch &launch);
  Outcome launch(const Launch &launch);

private:
  struct Kernel {
    std::string name;
    void *function = nullptr;
    uint32_t sharedBytes = 0; // the limit of its dynamic shared memory
  };

  CudaSession &session;
  void *module = nullptr;
  std::vector<Kernel> kernels;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDAKERNELS_H
