/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   CUDA graphs: a chain of launches and copies that one call enqueues. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDAGRAPH_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDAGRAPH_H

#include "../Replay/CommandList.h"
#include "CudaKernels.h"

namespace adrt {

class CudaGraph final : public Graph {
public:
  CudaGraph(const CudaDriver &driver, void *context) : driver(driver), context(context) {}
  ~CudaGraph() override;

  /// Appends a command, which depends on the previous one.
  CudaAnswer add(const Launch &launch, void *function);
  CudaAnswer add(const Copy &copy);
  /// Instantiates the graph; no command is added later.
  CudaAnswer instantiate();

  /// Replaces the arguments and the grid of command `index`, a launch, in later launches of the graph.
  CudaAnswer update(size_t index, const Launch &launch, void *function);
  CudaAnswer launch(void *stream);

private:
  CudaAnswer create();
  size_t dependencyCount() const { return nodes.empty() ? 0 : 1; }
  void *const *dependencies() const { return nodes.empty() ? nullptr : &nodes.back(); }

  const CudaDriver &driver;
  void *context;
  void *graph = nullptr, *executable = nullptr;
  std::vector<void *> nodes; // by command
};

class CudaGraphs final : public Graphs {
public:
  CudaGraphs(CudaSession &session, CudaKernels &kernels) : session(session), kernels(kernels) {}

  std::unique_ptr<Graph> instantiate(const CommandList &commands, Outcome &outcome) override;
  Outcome update(Graph &graph, const CommandList &commands, size_t index) override;
  Outcome launch(Graph &graph, const CommandList &commands) override;

private:
  CudaAnswer add(CudaGraph &graph, const CommandList &commands, size_t index) const;

  CudaSession &session;
  CudaKernels &kernels;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDAGRAPH_H
