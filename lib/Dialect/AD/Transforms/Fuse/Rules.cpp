// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Legality: a kernel has one iteration space. A member is computed at its points, at its rows (everything but
// the last axis, which a row reduction of the kernel collapses), or inside a reduction at the points that
// this reads. Where a value is read at any other point, as through a transposition, it stays outside.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool fuse::isElementwise(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::elementwise && op->getNumResults() == 1;
}

int64_t fuse::weightOf(const Cluster &cluster) {
  int64_t weight = 0;
  for (Operation *member : cluster.members) {
    auto elementwise = dyn_cast<ElementwiseOpInterface>(member);
    weight += elementwise ? elementwise.getScalarCost() : 1;
  }
  return weight;
}

bool fuse::isRowReduction(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp, ReduceMeanOp>([](auto reduction) {
        return reduction.getAxes() == ArrayRef<int64_t>{typeOf(reduction.getInput()).getRank() - 1};
      })
      .Default(false);
}

bool fuse::isPointReduction(Operation *op) {
  // A dot without free dimensions sums in lanes, like a row.
  if (auto dot = dyn_cast<DotOp>(op))
    return !dot.getOrderAttr() || !dot.getOrderAttr().isLanes();
  if (isa<GemmOp>(op))
    return true;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp, ReduceMeanOp>(
          [&](auto reduction) { return reduction.getAxes().size() == 1 && !isRowReduction(op); })
      .Default(false);
}

bool fuse::isSmallConstant(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && (constant.getValue().isSplat() || constant.getValue().getNumElements() <= 1);
}

static bool sizesAgree(BroadcastOp op, function_ref<bool(int64_t axis, int64_t resultAxis)> agree) {
  int64_t rank = typeOf(op.getInput()).getRank(), lead = typeOf(op.getResult()).getRank() - rank;
  return llvm::all_of(llvm::seq<int64_t>(0, rank), [&](int64_t axis) {
    return typeOf(op.getInput()).getDimSize(axis) == 1 || agree(axis, lead + axis);
  });
}

void fuse::markSameSizes(BroadcastOp op) {
  auto agree = [&](int64_t axis, int64_t of) {
    return haveSameSize(op.getInput(), axis, op.getResult(), of);
  };
  if (!typeOf(op.getInput()).hasStaticShape() && sizesAgree(op, agree))
    op->setAttr(kSameSizesAttr, UnitAttr::get(op.getContext()));
}

// Whether it is known which axes a broadcast repeats, so that a body needs no check: those of size 1.
static bool repeatsKnownAxes(BroadcastOp op) {
  RankedTensorType input = typeOf(op.getInput()), result = typeOf(op.getResult());
  return op->hasAttr(kSameSizesAttr) || sizesAgree(op, [&](int64_t axis, int64_t of) {
           return !input.isDynamicDim(axis) && input.getDimSize(axis) == result.getDimSize(of);
         });
}

// Static shapes that differ in axes of size 1 only.
static bool movesUnitAxes(ReshapeOp op) {
  RankedTensorType input = typeOf(op.getInput()), result = typeOf(op.getResult());
  if (!input.hasStaticShape() || !result.hasStaticShape())
    return false;
  auto longAxes = [](RankedTensorType type) {
    SmallVector<int64_t> sizes(type.getShape());
    llvm::erase(sizes, 1);
    return sizes;
  };
  return longAxes(input) == longAxes(result);
}

bool fuse::isFree(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<FullOp>([](FullOp) { return true; })
      .Case<BroadcastOp>(repeatsKnownAxes)
      .Case<ReshapeOp>(movesUnitAxes)
      .Case<SliceOp>([](SliceOp slice) {
        return typeOf(slice.getResult()).hasStaticShape() && typeOf(slice.getResult()).getRank() > 0 &&
               typeOf(slice.getResult()).getNumElements() > 0 && slice.getStrides().back() == 1;
      })
      .Case<DynamicSliceOp>([](DynamicSliceOp slice) {
        return typeOf(slice.getResult()).hasStaticShape() && typeOf(slice.getResult()).getRank() > 0 &&
               typeOf(slice.getResult()).getNumElements() > 0;
      })
      .Case<TransposeOp>([](TransposeOp transpose) {
        // A large one is read from memory that lies far apart: its own kernel goes through blocks.
        RankedTensorType type = typeOf(transpose.getResult());
        return type.hasStaticShape() && type.getNumElements() <= kSmallSpace;
      })
      .Default(false);
}

bool fuse::takesFree(Operation *user) {
  return isElementwise(user) || isRowReduction(user) || isPointReduction(user);
}

// Contractions read their operands many times, and have kernels for operands that are arguments.
static bool isContracted(Value value, const ClusterGraph &graph) {
  return llvm::any_of(graph.usesOf(value), [](const ClusterGraph::Use &use) {
    return isa<DotOp, GemmOp>(use.operand->getOwner());
  });
}

// Whether an update could run before what uses the slice: in place it would replace what the slice reads.
static bool mayBeUpdatedFirst(DynamicSliceOp slice) {
  return llvm::any_of(slice.getInput().getUsers(), [&](Operation *user) {
    auto update = dyn_cast<DynamicUpdateSliceOp>(user);
    Operation *replacement = update ? update.getUpdate().getDefiningOp() : nullptr;
    bool waits = replacement && slice->hasOneUse() && *slice->user_begin() == replacement;
    return update && update.getInput() == slice.getInput() && !waits;
  });
}

bool fuse::usersTakeCopies(Operation *op, const ClusterGraph &graph) {
  auto slice = dyn_cast<DynamicSliceOp>(op);
  if (slice && (isContracted(slice, graph) || mayBeUpdatedFirst(slice)))
    return false;
  return !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    return graph.isCopied(user) || (graph.clusterOf(user) && takesFree(user));
  });
}

static bool hasSpaceOf(Value value, Value space, ClusterGraph &graph) {
  return graph.sizes.surelySameShape(value, space);
}

// The shape of the space without its last axis, or with 1 in its place.
static bool hasRowsOf(Value value, Value space, ClusterGraph &graph) {
  int64_t rank = typeOf(space).getRank(), own = typeOf(value).getRank();
  if (rank == 0 || (own != rank - 1 && own != rank))
    return false;
  if (own == rank && typeOf(value).getDimSize(rank - 1) != 1)
    return false;
  return llvm::all_of(llvm::seq<int64_t>(0, rank - 1), [&](int64_t axis) {
    return graph.sizes.originOfSize(value, axis) == graph.sizes.originOfSize(space, axis);
  });
}

// Where a member reads its operand.
static Level levelOfOperand(Operation *member, ClusterGraph &graph) {
  Level level = graph.levelOf(member);
  if (isElementwise(member))
    return level;
  return isRowReduction(member) && level == Level::row ? Level::full : Level::inner;
}

// Where a member reads a value through copied operations: straight, repeated along rows, or elsewhere.
static Level levelThrough(Value value, Operation *through, Operation *member, const Cluster &cluster,
                          ClusterGraph &graph) {
  Level level = levelOfOperand(member, graph);
  if (isa<ReshapeOp>(through) && level == Level::row && hasRowsOf(value, cluster.space, graph))
    return Level::row;
  if (isa<BroadcastOp>(through) && level == Level::full && hasRowsOf(value, cluster.space, graph) &&
      typeOf(value).getRank() == typeOf(cluster.space).getRank())
    return Level::row;
  return Level::inner;
}

// The one level at which all members read the value; nothing when they differ.
static std::optional<Level> levelOfUses(Value value, const Cluster &cluster, ClusterGraph &graph) {
  std::optional<Level> common;
  for (const ClusterGraph::Use &use : graph.usesOf(value)) {
    Operation *member = use.operand->getOwner();
    if (graph.clusterOf(member) != &cluster)
      continue;
    // A chain of copied operations leads elsewhere, unless it is one step long.
    bool direct = !use.through || use.operand->get() == use.through->getResult(0);
    Level level = !use.through ? levelOfOperand(member, graph)
                  : direct     ? levelThrough(value, use.through, member, cluster, graph)
                               : Level::inner;
    if (common && *common != level)
      return std::nullopt;
    common = level;
  }
  return common;
}

static bool mayShareOrder(OrderAttr a, OrderAttr b) { return !a || !b || a == b; }

static OrderAttr orderOf(Operation *op) {
  auto numerics = dyn_cast<NumericsOpInterface>(op);
  return numerics ? numerics.getSummationOrder() : OrderAttr();
}

// Elementwise code inside a reduction runs once for each element that is reduced. A contraction reads each
// element of its operands once for every tile of its result.
static StringRef whyNotInside(Operation *op, const Cluster &cluster, ClusterGraph &graph) {
  for (const ClusterGraph::Use &use : graph.usesOf(op->getResult(0))) {
    Operation *member = use.operand->getOwner();
    if (graph.clusterOf(member) != &cluster)
      return "a user stands outside the fusion";
    if (use.through)
      return "it is read at other points than those of the fusion";
    if (isa<DotOp, GemmOp>(member))
      return "the contraction would compute it again for every tile";
  }
  return {};
}

static Fit refuse(StringRef reason) { return {Level::full, false, reason}; }

static Fit fitElementwise(Operation *op, Level level, const Cluster &cluster, ClusterGraph &graph) {
  Value result = op->getResult(0);
  if (level == Level::full && !hasSpaceOf(result, cluster.space, graph))
    return refuse("its shape is another one");
  if (level == Level::row && !hasRowsOf(result, cluster.space, graph))
    return refuse("its shape is another one");
  if (level == Level::inner)
    return {level, false, whyNotInside(op, cluster, graph)};
  return {level, false, {}};
}

static Fit fitRowReduction(Operation *op, Level level, const Cluster &cluster, ClusterGraph &graph) {
  if (level == Level::inner)
    return refuse("it is reduced again at other points");
  if (!mayShareOrder(orderOf(op), cluster.order))
    return refuse("the fusion sums in another order");
  if (level == Level::row) {
    if (cluster.reduces && !cluster.hasRows)
      return refuse("the fusion reduces other axes");
    if (!hasSpaceOf(op->getOperand(0), cluster.space, graph))
      return refuse("it reduces another iteration space");
    return {level, false, {}};
  }
  // Read at every point: the points of the cluster become the rows of what is reduced here.
  if (cluster.reduces)
    return refuse("the fusion reduces another iteration space");
  if (!hasSpaceOf(op->getResult(0), cluster.space, graph))
    return refuse("its shape is another one");
  return {Level::row, true, {}};
}

static Fit fitPointReduction(Operation *op, Level level, const Cluster &cluster, ClusterGraph &graph) {
  if (level != Level::full)
    return refuse("it is read at other points than those of the fusion");
  if (cluster.hasRows || !mayShareOrder(orderOf(op), cluster.order))
    return refuse("the fusion sums in another order");
  if (!hasSpaceOf(op->getResult(0), cluster.space, graph))
    return refuse("its shape is another one");
  return {level, false, {}};
}

Fit fuse::fitInto(Operation *op, const Cluster &cluster, ClusterGraph &graph) {
  if (weightOf(cluster) >= kWeightLimit)
    return refuse("the fusion is as large as one kernel gets");
  bool elementwise = isElementwise(op), row = isRowReduction(op), point = isPointReduction(op);
  if (!elementwise && !row && !point)
    return refuse("its kind has a kernel of its own");
  if (llvm::any_of(cluster.members, [](Operation *member) { return !takesFree(member); }))
    return refuse("the user's kind has a kernel of its own");
  std::optional<Level> level = levelOfUses(op->getResult(0), cluster, graph);
  if (!level)
    return refuse("it is read both at the points of the fusion and elsewhere");
  return elementwise ? fitElementwise(op, *level, cluster, graph)
         : row       ? fitRowReduction(op, *level, cluster, graph)
                     : fitPointReduction(op, *level, cluster, graph);
}

void fuse::initialize(Cluster &cluster, Operation *op) {
  cluster.reduces = isRowReduction(op) || isPointReduction(op);
  cluster.hasRows = isRowReduction(op);
  cluster.order = orderOf(op);
  if (cluster.hasRows)
    cluster.space = op->getOperand(0);
}

void fuse::accept(Operation *op, const Fit &fit, Cluster &cluster, ClusterGraph &graph) {
  if (fit.opensRows)
    for (Operation *member : cluster.members)
      if (graph.levelOf(member) == Level::full)
        graph.setLevel(member, Level::row);
  if (isRowReduction(op)) {
    cluster.reduces = cluster.hasRows = true;
    cluster.space = op->getOperand(0);
  }
  cluster.reduces |= isPointReduction(op);
  cluster.hasRows |= fit.level == Level::row;
  if (!cluster.order)
    cluster.order = orderOf(op);
  graph.add(op, cluster, fit.level);
}

bool fuse::haveSameSpace(const Cluster &a, const Cluster &b, ClusterGraph &graph) {
  auto ownKernel = [](const Cluster &cluster) {
    return llvm::any_of(cluster.members, [](Operation *member) { return !takesFree(member); });
  };
  // A kernel either reduces its rows or sums into its points.
  bool clash = (a.hasRows && b.reduces && !b.hasRows) || (b.hasRows && a.reduces && !a.hasRows);
  return !clash && weightOf(a) + weightOf(b) <= kWeightLimit && mayShareOrder(a.order, b.order) &&
         !ownKernel(a) && !ownKernel(b) && hasSpaceOf(a.space, b.space, graph);
}
