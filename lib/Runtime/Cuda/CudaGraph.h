/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Launches and copies as a graph of the CUDA driver: one command behind the other, and one call for all.
   Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDAGRAPH_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDAGRAPH_H

#include "../Replay/CommandList.h"
#include "CudaDriver.h"

namespace adrt {

class CudaGraph final : public Graph {
public:
  CudaGraph(const CudaDriver &driver, void *context) : driver(driver), context(context) {}
  ~CudaGraph() override;

  /// Puts a command behind all others.
  CudaAnswer add(const Launch &launch, void *function);
  CudaAnswer add(const Copy &copy);
  /// Gets the commands ready; nothing is added any more.
  CudaAnswer finish();

  /// Other arguments and another grid for command `index`, which is a launch, from the next run on.
  CudaAnswer change(size_t index, const Launch &launch, void *function);
  CudaAnswer run(void *stream);

private:
  CudaAnswer open();
  size_t countBefore() const { return nodes.empty() ? 0 : 1; }
  void *const *before() const { return nodes.empty() ? nullptr : &nodes.back(); }

  const CudaDriver &driver;
  void *context;
  void *graph = nullptr, *executable = nullptr;
  std::vector<void *> nodes; // by command
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDAGRAPH_H
