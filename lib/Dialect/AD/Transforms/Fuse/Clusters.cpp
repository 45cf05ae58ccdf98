// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Dependences in a block with clusters. A cluster runs as a whole: an operation that depends on one member
// depends on all of them.

#include "Clusters.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

// Nodes that a search visits before it gives up: keeps fusion linear in very long programs.
static constexpr size_t kSearchLimit = 20000;

ClusterGraph::ClusterGraph(Block &block, std::optional<TargetKind> target)
    : classes(block.getParentOp()->getContext(), target), block(block) {
  unsigned position = 0;
  for (Operation &op : block) {
    positions[&op] = position++;
    if (isMemoryEffectFree(&op))
      continue;
    effectNumber[&op] = effects.size();
    effects.push_back(&op);
    if (RequireOp::isOneOrHasOne(&op))
      guards.push_back(&op);
  }
  spanStart.resize(position);
  std::iota(spanStart.begin(), spanStart.end(), 0);
}

void ClusterGraph::extendSpan(const Cluster &cluster) {
  for (unsigned position = cluster.first; position <= cluster.last; ++position)
    spanStart[position] = std::min(spanStart[position], cluster.first);
}

// Edges lead forward in the block, except inside a cluster: the lowest position that they lead to.
unsigned ClusterGraph::lowestFrom(unsigned position) const {
  while (spanStart[position] < position)
    position = spanStart[position];
  return position;
}

void fuse::forEachOutsideOperand(Operation *op, llvm::function_ref<void(Value)> callback) {
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock()->getParentOp() != op)
        callback(operand);
  });
}

Cluster &ClusterGraph::create(Operation *op, ComputeAt at) {
  clusters.push_back(std::make_unique<Cluster>());
  clusters.back()->space = op->getResult(0);
  add(op, *clusters.back(), at);
  return *clusters.back();
}

void ClusterGraph::add(Operation *op, Cluster &cluster, ComputeAt at) {
  cluster.members.insert(op);
  cluster.first = std::min(cluster.first, positions.lookup(op));
  cluster.last = std::max(cluster.last, positions.lookup(op));
  owners[op] = &cluster;
  computeAts[op] = at;
  extendSpan(cluster);
}

void ClusterGraph::merge(Cluster &to, Cluster &from) {
  for (Operation *op : from.members)
    add(op, to, computeAts.lookup(op));
  to.hasRows |= from.hasRows;
  to.reduces |= from.reduces;
  to.hasSpaces |= from.hasSpaces;
  to.usesMma |= from.usesMma;
  to.hasChains |= from.hasChains;
  if (!to.order)
    to.order = from.order;
  from.members.clear();
}

void ClusterGraph::dissolve(Cluster &cluster) {
  for (Operation *op : cluster.members)
    owners.erase(op);
  cluster.members.clear();
}

SmallVector<ClusterGraph::Use> ClusterGraph::usesOf(Value value) const {
  SmallVector<Use> uses;
  for (OpOperand &use : value.getUses()) {
    Operation *user = block.findAncestorOpInBlock(*use.getOwner());
    if (user && user == use.getOwner() && copied.contains(user))
      for (Use further : usesOf(user->getResult(0)))
        uses.push_back({further.operand, user});
    else
      uses.push_back({&use, nullptr});
  }
  return uses;
}

bool ClusterGraph::hasUsesOutside(Value value, const Cluster *cluster) const {
  return llvm::any_of(usesOf(value),
                      [&](const Use &use) { return owners.lookup(use.operand->getOwner()) != cluster; });
}

bool ClusterGraph::isUsedBefore(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    Operation *inBlock = block.findAncestorOpInBlock(*user);
    return !inBlock || positions.lookup(inBlock) <= positions.lookup(op);
  });
}

bool ClusterGraph::reaches(const Cluster &from, const Cluster &to) const {
  SmallVector<Operation *> users;
  for (Operation *member : from.members)
    for (Value result : member->getResults())
      for (const Use &use : usesOf(result)) {
        Operation *user = block.findAncestorOpInBlock(*use.operand->getOwner());
        if (owners.lookup(user) != &from)
          users.push_back(user);
      }
  return reaches(users, to);
}

bool ClusterGraph::reaches(ArrayRef<Operation *> from, const Cluster &to) const {
  SmallVector<Operation *> pending(from);
  llvm::SmallPtrSet<Operation *, 32> seen;
  auto push = [&](Operation *op) {
    if (op && seen.insert(op).second)
      pending.push_back(op);
  };
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    Cluster *cluster = owners.lookup(op);
    if (cluster == &to || seen.size() > kSearchLimit)
      return true;
    if (lowestFrom(positions.lookup(op)) > to.last)
      continue;
    if (RequireOp::isOneOrHasOne(op))
      return true; // every operation after a condition runs after it, and `to` is one
    if (auto number = effectNumber.find(op); number != effectNumber.end())
      if (number->second + 1 < effects.size())
        push(effects[number->second + 1]);
    if (cluster)
      for (Operation *member : cluster->members)
        push(member);
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers())
        push(block.findAncestorOpInBlock(*user));
  }
  return false;
}

Node ClusterGraph::nodeOf(Operation *op) const {
  Cluster *cluster = owners.lookup(op);
  return cluster ? Node{cluster, nullptr} : Node{nullptr, op};
}

void ClusterGraph::addPredecessors(Operation *op, bool inCluster, SmallVectorImpl<Node> &nodes) const {
  forEachOutsideOperand(op, [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || producer->getBlock() != &block)
      return;
    // A cluster has its own copy of a copied operation; the original stays where it is, even after the
    // cluster that computes its operands.
    if (!inCluster || !copied.contains(producer))
      nodes.push_back(nodeOf(producer));
    if (copied.contains(producer))
      addPredecessors(producer, inCluster, nodes);
  });
  if (auto number = effectNumber.find(op); number != effectNumber.end() && number->second > 0)
    nodes.push_back(nodeOf(effects[number->second - 1]));
  auto after = llvm::upper_bound(guards, op, [&](Operation *lhs, Operation *rhs) {
    return positions.lookup(lhs) < positions.lookup(rhs);
  });
  if (after != guards.begin() && *std::prev(after) != op)
    nodes.push_back(nodeOf(*std::prev(after)));
}

SmallVector<Node> ClusterGraph::predecessors(Node node) const {
  SmallVector<Node> nodes;
  if (!node.cluster) {
    addPredecessors(node.op, /*inCluster=*/false, nodes);
    return nodes;
  }
  for (Operation *member : node.cluster->members)
    addPredecessors(member, /*inCluster=*/true, nodes);
  llvm::erase_if(nodes, [&](const Node &other) { return other.cluster == node.cluster; });
  return nodes;
}

SmallVector<Node> ClusterGraph::order() const {
  SmallVector<Node> sorted;
  llvm::SmallPtrSet<const void *, 32> entered;
  // Depth first without recursion: programs may be longer than a stack is deep.
  struct Frame {
    Node node;
    SmallVector<Node> before;
    size_t next = 0;
  };
  SmallVector<Frame, 0> stack;
  auto visit = [&](Node node) {
    if (entered.insert(node.key()).second)
      stack.push_back({node, predecessors(node)});
  };
  for (Operation &op : block) {
    // A cluster is visited at its last member or its first user, whichever comes first in the block.
    if (Cluster *cluster = owners.lookup(&op); cluster && positions.lookup(&op) != cluster->last)
      continue;
    visit(nodeOf(&op));
    while (!stack.empty()) {
      if (stack.back().next < stack.back().before.size()) {
        Node next = stack.back().before[stack.back().next++];
        visit(next);
        continue;
      }
      sorted.push_back(stack.back().node);
      stack.pop_back();
    }
  }
  return sorted;
}
