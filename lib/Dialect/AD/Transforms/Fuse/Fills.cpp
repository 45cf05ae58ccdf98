// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Fills.h"
#include "Conversions.h"
#include "Rules.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-fuse"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

// A tensor of one number; a large one is the broadcast of a scalar (PrepareForFusion.cpp).
static bool isFill(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || !type || !type.hasStaticShape())
    return false;
  if (viewKindOf(op) == ViewKind::broadcast)
    op = op->getOperand(0).getDefiningOp();
  return op && isSmallConstant(op);
}

namespace {
// Clusters that compute operands of an operation of the host program, and its operands of the same shape that
// are tensors of one number.
struct Start {
  SmallVector<Cluster *> clusters;
  SmallVector<OpOperand *> fills;
};
} // namespace

using Starts = std::map<std::pair<unsigned, std::vector<int64_t>>, Start>;

static std::vector<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static void addStarts(Cluster &cluster, ClusterGraph &graph, Starts &starts) {
  llvm::SetVector<Operation *> users;
  for (Operation *member : cluster.members)
    for (Operation *user : member->getUsers())
      if (user->getBlock() == &graph.getBlock() && !isa<FusableOpInterface>(user) &&
          !user->hasTrait<OpTrait::IsTerminator>())
        users.insert(user);
  std::vector<int64_t> shape = shapeOf(cluster.space);
  for (Operation *user : users) {
    Start &start = starts[{graph.positionOf(user), shape}];
    start.clusters.push_back(&cluster);
    if (start.clusters.size() > 1)
      continue;
    for (OpOperand &use : user->getOpOperands())
      if (isFill(use.get()) && shapeOf(use.get()) == shape)
        start.fills.push_back(&use);
  }
}

// Broadcasts whose uses have other values now.
static void dissolveReplaced(ClusterGraph &graph, const llvm::SetVector<Operation *> &replaced) {
  llvm::SmallPtrSet<OpOperand *, 8> taken;
  for (auto &cluster : graph.clusters)
    taken.insert(cluster->fills.begin(), cluster->fills.end());
  for (Operation *op : replaced)
    if (Cluster *own = graph.clusterOf(op); own && own->members.size() == 1)
      if (llvm::all_of(op->getUses(), [&](OpOperand &use) { return taken.contains(&use); }))
        graph.dissolve(*own);
}

// The clusters take turns, so that none of them only converts as long as there are enough tensors.
static void deal(Start &start, llvm::SetVector<Operation *> &unused) {
  for (auto [number, fill] : llvm::enumerate(start.fills)) {
    Cluster &cluster = *start.clusters[number % start.clusters.size()];
    if (cluster.members.size() + cluster.fills.size() >= kResultLimit)
      continue;
    cluster.fills.push_back(fill);
    unused.insert(fill->get().getDefiningOp());
    LDBG() << "a fusion of " << cluster.members.size() << " conversions writes a tensor of one number";
  }
}

void fuse::joinFills(ClusterGraph &graph, llvm::SetVector<Operation *> &unused) {
  Starts starts;
  for (auto &cluster : graph.clusters)
    if (!cluster->members.empty() && llvm::all_of(cluster->members, isConversion))
      addStarts(*cluster, graph, starts);
  for (auto &[key, start] : starts) {
    llvm::sort(start.clusters, [](Cluster *a, Cluster *b) { return a->first < b->first; });
    deal(start, unused);
  }
  dissolveReplaced(graph, unused);
}
