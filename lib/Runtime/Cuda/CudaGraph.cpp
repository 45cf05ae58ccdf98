/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Graphs are built node by node instead of captured from a stream. Arguments are updated by the handles of
   nodes, and calls of other threads cannot invalidate a capture. */
#include "CudaGraph.h"

using namespace adrt;

CudaGraph::~CudaGraph() {
  driver.cuCtxSetCurrent(context);
  // The driver frees a graph that still runs when it ends.
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

CudaAnswer CudaGraph::create() { return {"cuGraphCreate", graph ? 0 : driver.cuGraphCreate(&graph, 0)}; }

CudaAnswer CudaGraph::add(const Launch &launch, void *function) {
  if (CudaAnswer created = create(); created.result)
    return created;
  CudaKernelNode described = describe(launch, function);
  void *node = nullptr;
  CudaResult result =
      driver.cuGraphAddKernelNode(&node, graph, dependencies(), dependencyCount(), &described);
  nodes.push_back(node);
  return {"cuGraphAddKernelNode", result};
}

CudaAnswer CudaGraph::add(const Copy &copy) {
  if (CudaAnswer created = create(); created.result)
    return created;
  CudaCopyNode described;
  described.source.device = reinterpret_cast<CudaAddress>(copy.source);
  described.target.device = reinterpret_cast<CudaAddress>(copy.target);
  described.bytes = static_cast<size_t>(copy.bytes);
  void *node = nullptr;
  CudaResult result =
      driver.cuGraphAddMemcpyNode(&node, graph, dependencies(), dependencyCount(), &described, context);
  nodes.push_back(node);
  return {"cuGraphAddMemcpyNode", result};
}

CudaAnswer CudaGraph::instantiate() {
  return {"cuGraphInstantiateWithFlags", driver.cuGraphInstantiateWithFlags(&executable, graph, 0)};
}

CudaAnswer CudaGraph::update(size_t index, const Launch &launch, void *function) {
  CudaKernelNode described = describe(launch, function);
  return {"cuGraphExecKernelNodeSetParams",
          driver.cuGraphExecKernelNodeSetParams(executable, nodes[index], &described)};
}

CudaAnswer CudaGraph::launch(void *stream) {
  return {"cuGraphLaunch", driver.cuGraphLaunch(executable, stream)};
}

CudaAnswer CudaGraphs::add(CudaGraph &graph, const CommandList &commands, size_t index) const {
  if (const Copy *copy = commands.copyAt(index))
    return graph.add(*copy);
  Launch launch = commands.launchAt(index);
  return graph.add(launch, kernels.function(launch.kernel));
}

std::unique_ptr<Graph> CudaGraphs::instantiate(const CommandList &commands, Outcome &outcome) {
  if (!session.driver.cuGraphCreate)
    return nullptr;
  session.enter();
  auto graph = std::make_unique<CudaGraph>(session.driver, session.context);
  for (size_t index = 0; index < commands.size() && outcome.ok(); ++index) {
    if (!commands.copyAt(index))
      outcome = kernels.prepare(commands.launchAt(index));
    if (outcome.ok())
      outcome = session.finish(add(*graph, commands, index));
  }
  if (outcome.ok())
    outcome = session.finish(graph->instantiate());
  if (!outcome.ok())
    return nullptr;
  return graph;
}

Outcome CudaGraphs::update(Graph &graph, const CommandList &commands, size_t index) {
  session.enter();
  Launch launch = commands.launchAt(index);
  if (Outcome outcome = kernels.prepare(launch); !outcome.ok())
    return outcome;
  return session.finish(
      static_cast<CudaGraph &>(graph).update(index, launch, kernels.function(launch.kernel)));
}

Outcome CudaGraphs::launch(Graph &graph, const CommandList &commands) {
  session.enter();
  if (const Launch *last = commands.lastLaunch())
    session.noteLaunch(kernels.name(last->kernel), last->site, commands.size());
  if (Outcome outcome = session.markStart(); !outcome.ok())
    return outcome;
  return session.finish(static_cast<CudaGraph &>(graph).launch(session.stream(StreamKind::Compute)));
}
