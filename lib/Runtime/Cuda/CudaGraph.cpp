/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Graphs are built node by node and not captured from a stream: nodes have handles then, by which arguments
   are changed, and what other threads ask of the driver meanwhile cannot spoil anything. */
#include "CudaGraph.h"

using namespace adrt;

CudaGraph::~CudaGraph() {
  driver.cuCtxSetCurrent(context);
  // One that still runs is freed behind its end.
  if (executable)
    driver.cuGraphExecDestroy(executable);
  if (graph)
    driver.cuGraphDestroy(graph);
}

static CudaKernelNode describe(const Launch &launch, void *function) {
  CudaKernelNode node;
  node.function = function;
  for (int axis = 0; axis < 3; ++axis) {
    node.blocks[axis] = launch.grid.blocks[axis];
    node.threads[axis] = launch.grid.threads[axis];
  }
  node.sharedBytes = launch.grid.shared_bytes;
  node.arguments = const_cast<void **>(launch.arguments);
  return node;
}

CudaAnswer CudaGraph::open() { return {"cuGraphCreate", graph ? 0 : driver.cuGraphCreate(&graph, 0)}; }

CudaAnswer CudaGraph::add(const Launch &launch, void *function) {
  if (CudaAnswer opened = open(); opened.result)
    return opened;
  CudaKernelNode described = describe(launch, function);
  void *node = nullptr;
  CudaResult result = driver.cuGraphAddKernelNode(&node, graph, before(), countBefore(), &described);
  nodes.push_back(node);
  return {"cuGraphAddKernelNode", result};
}

CudaAnswer CudaGraph::add(const Copy &copy) {
  if (CudaAnswer opened = open(); opened.result)
    return opened;
  CudaCopyNode described;
  described.source.device = reinterpret_cast<CudaAddress>(copy.source);
  described.target.device = reinterpret_cast<CudaAddress>(copy.target);
  described.bytes = static_cast<size_t>(copy.bytes);
  void *node = nullptr;
  CudaResult result = driver.cuGraphAddMemcpyNode(&node, graph, before(), countBefore(), &described, context);
  nodes.push_back(node);
  return {"cuGraphAddMemcpyNode", result};
}

CudaAnswer CudaGraph::finish() {
  return {"cuGraphInstantiateWithFlags", driver.cuGraphInstantiateWithFlags(&executable, graph, 0)};
}

CudaAnswer CudaGraph::change(size_t index, const Launch &launch, void *function) {
  CudaKernelNode described = describe(launch, function);
  return {"cuGraphExecKernelNodeSetParams",
          driver.cuGraphExecKernelNodeSetParams(executable, nodes[index], &described)};
}

CudaAnswer CudaGraph::run(void *stream) {
  return {"cuGraphLaunch", driver.cuGraphLaunch(executable, stream)};
}
