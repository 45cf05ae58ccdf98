// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Grows clusters from the end of a block: an operation joins the cluster of its users where Rules.h allows
// it, then clusters side by side are joined, then each becomes a fusion.

#include "../PrepareForFusion.h"
#include "Body.h"
#include "Conversions.h"
#include "Fills.h"
#include "Layers.h"
#include "Paddings.h"
#include "Rules.h"
#include "Siblings.h"
#include "adjoint/Dialect/AD/IR/FuseGroups.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/FusePolicies.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-fuse"

namespace mlir::ad {
#define GEN_PASS_DEF_FUSEPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

static void reportRefusal(Operation *op, StringRef reason) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name("producer-stays-outside").category("ad-fuse"))
      << remark::metric("operation", op->getName().getStringRef()) << remark::metric("reason", reason);
}

static void reportFusion(FusionOp fusion, size_t operations) {
  if (operations > 1)
    remark::passed(fusion.getLoc(), remark::RemarkOpts::name("fused").category("ad-fuse"))
        << remark::metric("kind", stringifyFusionKind(fusion.getKind()))
        << remark::metric("operations", static_cast<int>(operations))
        << remark::metric("results", static_cast<int>(fusion.getNumResults()));
}

// A group whose operations have no common kernel, or whose derivative has kernels too, is several.
static void reportGroups(const ClusterGraph &graph) {
  llvm::MapVector<StringAttr, int> kernels;
  llvm::DenseMap<StringAttr, Operation *> firsts;
  for (const auto &cluster : graph.clusters) {
    auto group = cluster->members.empty() ? StringAttr() : dyn_cast_or_null<StringAttr>(groupOf(*cluster));
    if (!group)
      continue;
    ++kernels[group];
    Operation *&first = firsts[group];
    for (Operation *member : cluster->members)
      first = !first || graph.positionOf(member) < graph.positionOf(first) ? member : first;
  }
  for (auto [group, count] : kernels)
    remark::analysis(firsts[group]->getLoc(), remark::RemarkOpts::name("fuse-group").category("ad-fuse"))
        << remark::metric("group", group.getValue()) << remark::metric("kernels", count);
}

namespace {
class BlockFuser {
public:
  BlockFuser(Block &block, StringRef policy, int64_t maxConvertedRows, std::optional<TargetKind> target)
      : graph(block, target), grow(policy == "grow"), maxConvertedRows(maxConvertedRows) {}

  void run() {
    for (Operation &op : llvm::reverse(graph.getBlock()))
      if (isa<FusableOpInterface>(op))
        cluster(&op);
    llvm::SetVector<Operation *> unused;
    if (grow) {
      joinSiblings(graph);
      joinFills(graph, unused);
    }
    build(unused);
  }

  void runByLayers() {
    clusterByLayers(graph);
    build({});
  }

private:
  void cluster(Operation *op) {
    if (graph.isUsedBefore(op))
      return;
    if (isCopyableView(op) && usersTakeCopies(op, graph))
      return graph.copyIntoUsers(op);
    if (grow && isConvertedByUsers(op, graph, maxConvertedRows) && allowsRewrite("fuse", "none", op)) {
      LDBG() << op->getName() << " is computed by the kernels that use it";
      return graph.copyIntoUsers(op);
    }
    if (grow && isPaddedByUsers(op, graph) && allowsRewrite("fuse", "none", op)) {
      LDBG() << op->getName() << " is padded by the kernels that use it";
      return graph.copyIntoUsers(op);
    }
    if (grow && joinUsers(op))
      return;
    Cluster &own = graph.create(op, reducesLastAxis(op) ? ComputeAt::row : ComputeAt::point);
    initialize(own, op);
  }

  // The clusters that use the result, in the order of the block.
  SmallVector<Cluster *> userClusters(Operation *op) {
    llvm::SmallSetVector<Cluster *, 4> users;
    for (const ClusterGraph::Use &use : graph.usesOf(op->getResult(0)))
      if (Cluster *cluster = graph.clusterOf(use.operand->getOwner()))
        users.insert(cluster);
    SmallVector<Cluster *> sorted(users.begin(), users.end());
    llvm::sort(sorted, [](Cluster *a, Cluster *b) { return a->first < b->first; });
    return sorted;
  }

  // Adds the operation to a cluster that uses it, and merges the other clusters that use it into this one.
  Cluster *joinUsers(Operation *op) {
    if (op->getNumResults() != 1)
      return nullptr;
    SmallVector<Cluster *> users = userClusters(op);
    Cluster *home = nullptr;
    Fit chosen;
    StringRef refusal;
    for (Cluster *candidate : users) {
      Fit fit = fitInto(op, *candidate, graph);
      if (fit.refusal.empty() && otherUserRunsFirst(op, *candidate))
        fit.refusal = "another user runs before the fusion";
      if (!fit.refusal.empty()) {
        refusal = fit.refusal;
        continue;
      }
      if (!home) {
        if (!allowsRewrite("fuse", "none", op))
          return nullptr;
        home = candidate;
        chosen = fit;
      } else if (fit.at == chosen.at && !fit.opensRows && !chosen.opensRows &&
                 haveSameSpace(*home, *candidate, graph) && !graph.reaches(*home, *candidate) &&
                 !graph.reaches(*candidate, *home)) {
        graph.merge(*home, *candidate);
      }
    }
    if (home) {
      LDBG() << op->getName() << " joins a fusion of " << home->members.size() << " operations";
      accept(op, chosen, *home, graph);
    } else if (!refusal.empty()) {
      LDBG() << op->getName() << " stays outside: " << refusal;
      reportRefusal(op, refusal);
    }
    return home;
  }

  // Whether another user of the result has to run before the cluster: then the two cannot be one kernel.
  bool otherUserRunsFirst(Operation *op, const Cluster &cluster) {
    SmallVector<Operation *> others;
    for (const ClusterGraph::Use &use : graph.usesOf(op->getResult(0))) {
      Operation *user = graph.getBlock().findAncestorOpInBlock(*use.operand->getOwner());
      if (graph.clusterOf(user) != &cluster)
        others.push_back(user);
    }
    return !others.empty() && graph.reaches(others, cluster);
  }

  void build(const llvm::SetVector<Operation *> &unused) {
    reportGroups(graph);
    SmallVector<Node> order = graph.order();
    llvm::SetVector<Operation *> copies = graph.getCopied();
    copies.insert_range(unused);
    SmallVector<Operation *> sequence;
    for (const Node &node : order) {
      if (!node.cluster) {
        sequence.push_back(node.op);
        continue;
      }
      FusionOp fusion = buildFusion(*node.cluster, graph, copies);
      reportFusion(fusion, node.cluster->members.size());
      sequence.push_back(fusion);
    }
    for (Operation *op : sequence)
      op->moveBefore(&graph.getBlock(), graph.getBlock().end());
    eraseUnused(copies);
  }

  // Operations that are in fusions now, users before the operations that they use.
  void eraseUnused(const llvm::SetVector<Operation *> &copies) {
    SmallVector<Operation *> members;
    for (auto &cluster : graph.clusters)
      llvm::append_range(members, cluster->members);
    for (Operation *member : members)
      member->dropAllReferences();
    SmallVector<Operation *> left(copies.begin(), copies.end());
    llvm::sort(left, [&](Operation *a, Operation *b) { return graph.positionOf(a) > graph.positionOf(b); });
    for (Operation *op : left)
      if (!graph.clusterOf(op) && op->use_empty())
        op->erase();
    for (Operation *member : members)
      member->erase();
  }

  ClusterGraph graph;
  bool grow;
  int64_t maxConvertedRows;
};

struct FusePass : ad::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    if (!isFusePolicy(policy)) {
      emitError(getOperation()->getLoc())
          << "unknown value '" << policy
          << "' of option policy of ad-fuse, which is option fuse of pipelines; expected "
          << fusePolicyNames();
      return signalPassFailure();
    }
    std::optional<TargetKind> kind = findTargetKind(target);
    if (!kind && !target.empty()) {
      emitError(getOperation()->getLoc(), "unknown target '") << target << "', expected cpu or gpu";
      return signalPassFailure();
    }
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<FusionOp, KernelOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    keepFuseGroups(getOperation());
    prepareForFusion(getOperation());
    for (Block *block : blocks) {
      if (llvm::none_of(*block, [](Operation &op) { return isa<FusableOpInterface>(op); }))
        continue;
      eraseDead(*block);
      BlockFuser fuser(*block, policy, maxConvertedRows, kind);
      policy == "layers" ? fuser.runByLayers() : fuser.run();
    }
  }

  static void eraseDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<FusableOpInterface>(op) && isOpTriviallyDead(&op))
        op.erase();
  }
};
} // namespace
