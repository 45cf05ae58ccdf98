// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The policy `layers`: groups grow along the layers of the dependence graph. Layer n has the operations whose
// longest path from the start of the block has n operations.
//
// A group starts with a contraction, then with a reduction, then with an elementwise operation. It grows by
// elementwise operations with as many elements as one of its members, layer by layer, until a layer adds
// none. Groups of contractions and reductions get only operations that depend on them. No member may depend
// on an outside user of the group: otherwise the group would depend on itself. A member is read only at the
// element at which it was computed.

#include "Layers.h"
#include "Rules.h"
#include "adjoint/Dialect/AD/IR/FuseGroups.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// Transpositions, broadcasts, slices and the like: in a kernel only another index of the element that is
// read.
static bool isMovement(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.isFreeView();
}

namespace {
class LayeredClusters {
public:
  explicit LayeredClusters(ClusterGraph &graph) : graph(graph) {}

  void run() {
    for (Operation &op : llvm::reverse(graph.getBlock()))
      if (isa<FusableOpInterface>(op))
        wrap(&op);
    SmallVector<Operation *> starts[3];
    for (Operation &op : graph.getBlock())
      if (graph.clusterOf(&op))
        for (FusionKind kind : {FusionKind::dot, FusionKind::reduce, FusionKind::elementwise})
          if (cast<FusableOpInterface>(op).getFusionKind() == kind)
            starts[rankOf(kind)].push_back(&op);
    for (FusionKind kind : {FusionKind::dot, FusionKind::reduce, FusionKind::elementwise})
      for (Operation *op : starts[rankOf(kind)])
        if (isAlone(op) && mayStart(op, kind))
          grow(*graph.clusterOf(op), /*onlyDependent=*/kind != FusionKind::elementwise);
  }

private:
  static unsigned rankOf(FusionKind kind) {
    return kind == FusionKind::dot ? 0 : kind == FusionKind::reduce ? 1 : 2;
  }

  void wrap(Operation *op) {
    if (graph.isUsedBefore(op))
      return;
    if (isMovement(op) && usersTakeCopies(op, graph))
      return graph.copyIntoUsers(op);
    initialize(graph.create(op, ComputeAt::point), op);
  }

  // The results of other reductions, such as the steps of a cumsum, are stored before anything reads them.
  static bool mayStart(Operation *op, FusionKind kind) {
    return kind != FusionKind::reduce || mayReadThroughViews(op);
  }

  bool isAlone(Operation *op) { return graph.clusterOf(op) && graph.clusterOf(op)->members.size() == 1; }

  // Nodes by their distance from the start of the block; nodes that become no kernel add nothing to it.
  SmallVector<SmallVector<Node>> layers() {
    SmallVector<SmallVector<Node>> layers;
    llvm::DenseMap<const void *, unsigned> depths;
    for (const Node &node : graph.order()) {
      bool counts = node.cluster || !isMemoryEffectFree(node.op);
      unsigned depth = 0;
      for (const Node &before : graph.predecessors(node))
        depth = std::max(depth, depths.lookup(before.key()));
      depths[node.key()] = depth + counts;
      layers.resize(std::max<size_t>(layers.size(), depth + counts + 1));
      layers[depth + counts].push_back(node);
    }
    return layers;
  }

  void grow(Cluster &group, bool onlyDependent) {
    if (group.usesMma) // its kernel reads the product element by element
      return;
    outside.clear();
    bool started = false;
    for (ArrayRef<Node> layer : layers()) {
      bool isFirst =
          !started && llvm::any_of(layer, [&](const Node &node) { return node.cluster == &group; });
      started |= isFirst;
      bool added = false;
      for (const Node &node : layer) {
        if (!started || node.cluster == &group)
          continue;
        if (mayJoin(node, group, onlyDependent)) {
          graph.merge(group, *node.cluster);
          added = true;
        } else if (leavesOut(node, group)) {
          outside.insert(node.key());
        }
      }
      if (started && !isFirst && !added)
        return;
    }
  }

  // What the node reads of the group through movement: nothing, the same elements, or others.
  enum class Reads { nothing, sameElements, otherElements };
  Reads readsOf(Operation *op, const Cluster &group) {
    Reads reads = Reads::nothing;
    SmallVector<std::pair<Value, bool>> pending;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        pending.emplace_back(operand, typeOf(operand).getShape() == typeOf(op->getResult(0)).getShape());
    while (!pending.empty()) {
      auto [value, same] = pending.pop_back_val();
      Operation *producer = value.getDefiningOp();
      if (!producer)
        continue;
      if (graph.clusterOf(producer) == &group)
        reads = std::max(reads, same ? Reads::sameElements : Reads::otherElements);
      else if (graph.isCopied(producer))
        for (Value operand : producer->getOperands())
          pending.emplace_back(operand, same && viewKindOf(producer) == ViewKind::reshape);
    }
    return reads;
  }

  bool readsCopies(Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && graph.isCopied(operand.getDefiningOp());
    });
  }

  bool hasSizeOf(Operation *op, const Cluster &group) {
    RankedTensorType type = typeOf(op->getResult(0));
    return llvm::any_of(group.members, [&](Operation *member) {
      RankedTensorType other = typeOf(member->getResult(0));
      return type.hasStaticShape() && other.hasStaticShape()
                 ? type.getNumElements() == other.getNumElements()
                 : graph.sizes.surelySameShape(op->getResult(0), member->getResult(0));
    });
  }

  bool mayJoin(const Node &node, const Cluster &group, bool onlyDependent) {
    if (!node.cluster || node.cluster->members.size() != 1 || dependsOnOutside(node))
      return false;
    Operation *op = node.cluster->members.front();
    if (!isElementwiseOp(op) || !hasSizeOf(op, group) || fuseGroupOf(op) != groupOf(group))
      return false;
    if (readsCopies(op) && !llvm::all_of(group.members, mayReadThroughViews))
      return false;
    Reads reads = readsOf(op, group);
    return reads == Reads::sameElements || (reads == Reads::nothing && !onlyDependent);
  }

  bool dependsOnOutside(const Node &node) {
    return llvm::any_of(graph.predecessors(node),
                        [&](const Node &before) { return outside.contains(before.key()); });
  }

  // Movement alone decides nothing: the operations that read through it do.
  bool leavesOut(const Node &node, const Cluster &group) {
    if (dependsOnOutside(node))
      return true;
    if (node.op && graph.isCopied(node.op))
      return false;
    return llvm::any_of(graph.predecessors(node),
                        [&](const Node &before) { return before.cluster == &group; });
  }

  ClusterGraph &graph;
  llvm::DenseSet<const void *> outside; ///< nodes that must not join the group
};
} // namespace

void fuse::clusterByLayers(ClusterGraph &graph) { LayeredClusters(graph).run(); }
