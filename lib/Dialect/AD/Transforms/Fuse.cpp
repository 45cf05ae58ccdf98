// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Wraps operations into fusions: each computing operation in one of its own, except the obvious elementwise
// chains. Knows operations through FusableOpInterface; constants, ad.full and ad.broadcast are what it copies
// besides.

#include "Sizes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ad {
#define GEN_PASS_DEF_FUSEPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Whether the types alone say which axes a broadcast repeats, so that a body needs no check.
static bool repeatsKnownAxes(BroadcastOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto result = cast<RankedTensorType>(op.getType());
  int64_t lead = result.getRank() - input.getRank();
  for (int64_t axis = 0; axis < input.getRank(); ++axis)
    if (input.isDynamicDim(axis) ||
        (input.getDimSize(axis) != 1 && input.getDimSize(axis) != result.getDimSize(lead + axis)))
      return false;
  return true;
}

// Costs nothing inside an elementwise fusion of its shape.
static bool isFreeInElementwise(Operation *op) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return repeatsKnownAxes(broadcast);
  return isa<FullOp>(op);
}

// A constant that a body can hold: one value, or one value repeated.
static bool isSmallConstant(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && (constant.getValue().isSplat() || constant.getValue().getNumElements() <= 1);
}

static bool isElementwise(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::elementwise && op->getNumResults() == 1;
}

static void refuse(Operation *op, StringRef reason) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name("producer-stays-outside").category("ad-fuse"))
      << remark::metric("operation", op->getName().getStringRef()) << remark::metric("reason", reason);
}

namespace {
// Operations that become one fusion. The root comes last and is the only one with users outside.
struct Cluster {
  explicit Cluster(Operation *root) : root(root) { members.insert(root); }
  Operation *root;
  llvm::SmallSetVector<Operation *, 8> members;
};

// Clusters of one block. Goes through the block from its end, so that all users of an operation are placed
// before it.
class BlockFuser {
public:
  explicit BlockFuser(Block &block) : block(block) {}

  void run() {
    for (Operation &op : llvm::reverse(block))
      if (isa<FusableOpInterface>(op))
        place(&op);
    for (auto &cluster : clusters)
      build(*cluster);
    // Clusters and their members were found from the end of the block: users are erased before what they use.
    for (auto &cluster : clusters)
      for (Operation *member : cluster->members)
        member->erase();
    for (Operation *op : copied)
      if (op->use_empty())
        op->erase();
  }

private:
  bool isElementwiseMember(Operation *op) { return isElementwise(op) && clusterOf.count(op); }

  void place(Operation *op) {
    if (isFreeInElementwise(op) && !op->use_empty() &&
        llvm::all_of(op->getUsers(), [&](Operation *user) { return isElementwiseMember(user); })) {
      copied.insert(op);
      return;
    }
    Cluster *cluster = clusterToJoin(op);
    if (cluster) {
      cluster->members.insert(op);
    } else {
      clusters.push_back(std::make_unique<Cluster>(op));
      cluster = clusters.back().get();
    }
    clusterOf[op] = cluster;
  }

  // The one cluster that has all users of the operation; null, after a remark, when it has to stay outside.
  Cluster *clusterToJoin(Operation *op) {
    if (!isElementwise(op) || isFreeInElementwise(op))
      return nullptr;
    llvm::SmallPtrSet<Cluster *, 4> users;
    bool outside = false;
    for (Operation *user : op->getUsers()) {
      if (isElementwiseMember(user))
        users.insert(clusterOf[user]);
      else
        outside = true;
    }
    if (users.empty())
      return nullptr;
    if (outside || users.size() > 1)
      return refuse(op, "a user stands outside the fusion"), nullptr;
    Cluster *cluster = *users.begin();
    if (!sizes.surelySameShape(op->getResult(0), cluster->root->getResult(0)))
      return refuse(op, "its shape is another one"), nullptr;
    return cluster;
  }

  void build(const Cluster &cluster);

  Block &block;
  SizeAnalysis sizes;
  SmallVector<std::unique_ptr<Cluster>> clusters;
  llvm::DenseMap<Operation *, Cluster *> clusterOf;
  // Operations whose only place is inside the fusions of their users, and constants that have been copied.
  llvm::SmallSetVector<Operation *, 8> copied;
};

// Builds the body of a fusion; what it needs from outside becomes an operand.
class BodyBuilder {
public:
  explicit BodyBuilder(const Cluster &cluster, llvm::SmallSetVector<Operation *, 8> &copied)
      : cluster(cluster), copied(copied), builder(cluster.root->getContext()) {
    builder.setInsertionPointToStart(&body);
  }

  void add(Operation *member, bool isCopy = false) {
    cloneInto(member, isCopy);
    if (auto numerics = dyn_cast<NumericsOpInterface>(member)) {
      permissions = permissions ? *permissions & numerics.getPermissions() : numerics.getPermissions();
      explicitlySet &= numerics.hasPermissions();
      if (OrderAttr own = numerics.getSummationOrder())
        order = own;
    }
  }

  // Consumes the body.
  FusionOp finish(FusionKind kind) {
    Operation *root = cluster.root;
    YieldOp::create(builder, root->getLoc(), ValueRange(mapping.lookup(root->getResult(0))));
    SmallVector<Location> locations;
    for (Operation *member : llvm::reverse(cluster.members))
      locations.push_back(member->getLoc());
    PermissionsAttr allow = permissions && explicitlySet
                                ? PermissionsAttr::get(root->getContext(), *permissions)
                                : PermissionsAttr();
    OpBuilder outer(root);
    auto fusion = FusionOp::create(outer, outer.getFusedLoc(locations), root->getResultTypes(), kind, inputs,
                                   KernelClassAttr(), order, allow);
    Block &target = fusion.getBody().emplaceBlock();
    for (Value input : inputs)
      target.addArgument(input.getType(), input.getLoc());
    for (auto [own, final] : llvm::zip_equal(body.getArguments(), target.getArguments()))
      own.replaceAllUsesWith(final);
    target.getOperations().splice(target.end(), body.getOperations());
    return fusion;
  }

private:
  void cloneInto(Operation *op, bool isCopy) {
    for (Value operand : op->getOperands())
      bring(operand, isCopy);
    builder.clone(*op, mapping);
  }

  // Makes the value available inside: as an operand, or as a copy of a constant or of what costs nothing.
  // What a copy needs has another shape than the fusion and comes in as an operand.
  void bring(Value value, bool forCopy) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    if (op && isSmallConstant(op)) {
      copied.insert(op);
      return cloneInto(op, /*isCopy=*/true);
    }
    if (op && !forCopy && isElementwise(cluster.root) && isFreeInElementwise(op))
      return add(op, /*isCopy=*/true);
    inputs.push_back(value);
    mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
  }

  const Cluster &cluster;
  llvm::SmallSetVector<Operation *, 8> &copied;
  OpBuilder builder;
  Block body;
  IRMapping mapping;
  SmallVector<Value> inputs;
  std::optional<Permissions> permissions;
  bool explicitlySet = true;
  OrderAttr order;
};

void BlockFuser::build(const Cluster &cluster) {
  BodyBuilder body(cluster, copied);
  for (Operation *member : llvm::reverse(cluster.members))
    body.add(member);
  FusionOp fusion = body.finish(cast<FusableOpInterface>(cluster.root).getFusionKind());
  cluster.root->getResult(0).replaceAllUsesWith(fusion.getResult(0));
}

struct FusePass : ad::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<FusionOp, KernelOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    for (Block *block : blocks)
      BlockFuser(*block).run();
  }
};
} // namespace
