// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Body.h"
#include "Rules.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

namespace {
// Values from outside become operands of the fusion.
class BodyBuilder {
public:
  BodyBuilder(const Cluster &cluster, ClusterGraph &graph, llvm::SetVector<Operation *> &copies)
      : graph(graph), copies(copies), members(cluster.members.begin(), cluster.members.end()),
        builder(members.front()->getContext()) {
    llvm::sort(members,
               [&](Operation *lhs, Operation *rhs) { return graph.positionOf(lhs) < graph.positionOf(rhs); });
    takesCopies = llvm::all_of(members, mayReadThroughViews);
    takesNumbers = llvm::none_of(members, llvm::IsaPred<NamedKernelOpInterface>);
    builder.setInsertionPointToStart(&body);
    for (Operation *member : members)
      add(member);
    for (Operation *member : members)
      for (Value result : member->getResults())
        if (isUsedOutside(result, cluster))
          results.push_back(result);
    fills = cluster.fills;
    for (OpOperand *fill : fills)
      makeAvailable(fill->get());
  }

  FusionOp finish() {
    SmallVector<Value> yielded = inside(results);
    SmallVector<Type> types(ValueRange(results).getTypes());
    for (OpOperand *fill : fills) {
      types.push_back(fill->get().getType());
      yielded.push_back(mapping.lookup(fill->get()));
    }
    YieldOp::create(builder, members.back()->getLoc(), yielded);
    SmallVector<Location> locations;
    for (Operation *member : members)
      locations.push_back(member->getLoc());
    Operation *last = members.back();
    PermissionsAttr allow = permissions && explicitlySet
                                ? PermissionsAttr::get(last->getContext(), *permissions)
                                : PermissionsAttr();
    OpBuilder outer(last);
    outer.setInsertionPointAfter(last);
    auto fusion = FusionOp::create(outer, outer.getFusedLoc(locations), types, kind(), inputs,
                                   /*kernel=*/StringAttr(), order, allow);
    Block &target = fusion.getBody().emplaceBlock();
    for (Value input : inputs)
      target.addArgument(input.getType(), input.getLoc());
    for (auto [own, final] : llvm::zip_equal(body.getArguments(), target.getArguments()))
      own.replaceAllUsesWith(final);
    target.getOperations().splice(target.end(), body.getOperations());
    llvm::SmallPtrSet<Operation *, 8> inCluster(members.begin(), members.end());
    for (auto [fill, fresh] : llvm::zip_equal(fills, fusion.getResults().take_back(fills.size())))
      fill->set(fresh);
    for (auto [old, fresh] : llvm::zip_equal(results, fusion.getResults().take_front(results.size())))
      old.replaceUsesWithIf(fresh, [&](OpOperand &use) { return !inCluster.contains(use.getOwner()); });
    return fusion;
  }

private:
  // The originals of copied operations stay for their users in the host program: their operand must exist
  // there too, unless all of their users have copies of their own.
  bool isUsedOutside(Value value, const Cluster &cluster) { return graph.hasUsesOutside(value, &cluster); }

  SmallVector<Value> inside(ArrayRef<Value> values) {
    SmallVector<Value> mapped;
    for (Value value : values)
      mapped.push_back(mapping.lookup(value));
    return mapped;
  }

  // The kind of the fusion: that of a contraction, else of a reduction, else of a nest, else of elementwise
  // operations.
  FusionKind kind() {
    auto has = [&](FusionKind wanted) {
      return llvm::any_of(members, [&](Operation *member) {
        return cast<FusableOpInterface>(member).getFusionKind() == wanted;
      });
    };
    for (FusionKind kind : {FusionKind::dot, FusionKind::reduce, FusionKind::nest, FusionKind::elementwise})
      if (has(kind))
        return kind;
    return FusionKind::movement;
  }

  void add(Operation *op) {
    for (Value operand : op->getOperands())
      makeAvailable(operand);
    builder.clone(*op, mapping);
    if (auto numerics = dyn_cast<NumericsOpInterface>(op)) {
      permissions = permissions ? *permissions & numerics.getPermissions() : numerics.getPermissions();
      explicitlySet &= numerics.hasPermissions();
      if (OrderAttr own = numerics.getSummationOrder())
        order = own;
    }
  }

  // Makes the value available inside: as an operand, or as a copy of a constant or a free view.
  void makeAvailable(Value value) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    bool repeats = op && viewKindOf(op) == ViewKind::broadcast && isCopyableView(op);
    if (op && op->getBlock() == &graph.getBlock() &&
        ((takesNumbers && isSmallConstant(op)) || (takesCopies && (repeats || graph.isCopied(op))))) {
      copies.insert(op);
      return add(op);
    }
    inputs.push_back(value);
    mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
  }

  ClusterGraph &graph;
  llvm::SetVector<Operation *> &copies;
  SmallVector<Operation *> members;
  bool takesCopies = false, takesNumbers = false; // a named kernel has nothing beside it
  OpBuilder builder;
  Block body;
  IRMapping mapping;
  SmallVector<Value> inputs, results;
  SmallVector<OpOperand *> fills;
  std::optional<Permissions> permissions;
  bool explicitlySet = true;
  OrderAttr order;
};
} // namespace

FusionOp fuse::buildFusion(const Cluster &cluster, ClusterGraph &graph,
                           llvm::SetVector<Operation *> &copies) {
  return BodyBuilder(cluster, graph, copies).finish();
}
