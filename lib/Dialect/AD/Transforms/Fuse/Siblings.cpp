// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Clusters at the same depth of the dependence graph cannot depend on each other. Depth is counted once from
// the start, which aligns projections of one input, and once from the end, which aligns the updates of
// parameters; from the end, only clusters that are ready at about the same time are joined. Joining clusters
// of equal depth changes no depth, so one pass over the block does.

#include "Siblings.h"
#include "Rules.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-fuse"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

// Limit of the kernels between two siblings: their operands occupy memory until the later one runs.
static constexpr unsigned kWaitLimit = 8;

using Depths = llvm::DenseMap<const void *, unsigned>;

static Depths depthsFromStart(ClusterGraph &graph, ArrayRef<Node> order) {
  Depths depths;
  for (const Node &node : order) {
    unsigned depth = 0;
    for (const Node &before : graph.predecessors(node))
      depth = std::max(depth, depths.lookup(before.key()) + 1);
    depths[node.key()] = depth;
  }
  return depths;
}

static Depths depthsFromEnd(ClusterGraph &graph, ArrayRef<Node> order) {
  Depths depths;
  for (const Node &node : llvm::reverse(order)) {
    unsigned depth = depths.lookup(node.key());
    depths[node.key()] = depth;
    for (const Node &before : graph.predecessors(node)) {
      unsigned &known = depths[before.key()];
      known = std::max(known, depth + 1);
    }
  }
  return depths;
}

static unsigned resultsOf(const Cluster &cluster, ClusterGraph &graph) {
  unsigned count = 0;
  for (Operation *member : cluster.members)
    for (Value result : member->getResults())
      count += graph.hasUsesOutside(result, &cluster);
  return count;
}

static bool isSmall(const Cluster &cluster) {
  auto type = cast<RankedTensorType>(cluster.space.getType());
  return type.hasStaticShape() && type.getNumElements() <= kSmallSpace;
}

static void joinAtEqualDepth(ClusterGraph &graph, ArrayRef<Node> order, const Depths &depths,
                             const Depths &ready) {
  // Clusters that could be joined share depth and shape.
  std::map<std::pair<unsigned, std::vector<int64_t>>, SmallVector<Cluster *>> groups;
  for (const Node &node : order) {
    Cluster *cluster = node.cluster;
    if (!cluster || !isSmall(*cluster))
      continue;
    auto shape = cast<RankedTensorType>(cluster->space.getType()).getShape();
    auto &group = groups[{depths.lookup(cluster), {shape.begin(), shape.end()}}];
    Cluster **partner = llvm::find_if(group, [&](Cluster *other) {
      return haveSameSpace(*other, *cluster, graph) && other->reduces == cluster->reduces &&
             llvm::AbsoluteDifference(ready.lookup(other), ready.lookup(cluster)) <= kWaitLimit &&
             resultsOf(*other, graph) + resultsOf(*cluster, graph) <= kResultLimit;
    });
    if (partner == group.end())
      group.push_back(cluster);
    else {
      LDBG() << "independent fusions of " << (*partner)->members.size() << " and " << cluster->members.size()
             << " operations are joined";
      graph.merge(**partner, *cluster);
    }
  }
}

void fuse::joinSiblings(ClusterGraph &graph) {
  SmallVector<Node> order = graph.order();
  Depths ready = depthsFromStart(graph, order);
  joinAtEqualDepth(graph, order, ready, ready);
  order = graph.order();
  joinAtEqualDepth(graph, order, depthsFromEnd(graph, order), depthsFromStart(graph, order));
}
