// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Legality: a kernel has one iteration space. A member is computed at each point of it (one iteration of all
// loops), at each row (all loops but the last, which a row reduction of the kernel collapses), or inside a
// reduction, at the elements that the reduction reads. A value that is read at any other element, as through
// a transposition, stays outside.

#include "Rules.h"
#include "../PaddedRows.h"
#include "Conversions.h"
#include "adjoint/Dialect/AD/IR/FuseGroups.h"
#include "adjoint/Dialect/AD/Transforms/FusionPolicy.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// Roughly the instructions of an operation, in tens.
static int64_t costOf(Operation *op) {
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return elementwise.getScalarCost();
  if (auto nest = dyn_cast<LoopNestOpInterface>(op))
    return nest.getIterationCost();
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  return reduction ? reduction.getElementCost() : 1;
}

int64_t fuse::weightOf(const Cluster &cluster) {
  int64_t weight = 0;
  for (Operation *member : cluster.members)
    weight += costOf(member);
  return weight;
}

static OrderAttr orderOf(Operation *op) {
  auto numerics = dyn_cast<NumericsOpInterface>(op);
  return numerics ? numerics.getSummationOrder() : OrderAttr();
}

bool fuse::hasFixedInstruction(Operation *op) { return op->hasAttrOfType<InstructionAttr>(kInstructionAttr); }

bool fuse::isContractionLike(Operation *op) {
  // A contraction that sums in lanes has no parallel dimensions, and a kernel of its own, like a row.
  if (isContractionOp(op))
    return !orderOf(op) || !orderOf(op).hasLanes();
  return reducesOtherAxis(op);
}

bool fuse::isSmallConstant(Operation *op) {
  ElementsAttr value;
  return op->hasTrait<OpTrait::ConstantLike>() && isa<RankedTensorType>(op->getResult(0).getType()) &&
         matchPattern(op, m_Constant(&value)) && (value.isSplat() || value.getNumElements() <= 1);
}

bool fuse::isCopyableView(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  if (!fusable || !fusable.isFreeView())
    return false;
  // The elements of a transposed row are far apart in memory: a large transposition has a kernel that goes by
  // blocks.
  return viewKindOf(op) != ViewKind::transpose || typeOf(op->getResult(0)).getNumElements() <= kSmallSpace;
}

bool fuse::mayReadThroughViews(Operation *user) {
  return isElementwiseOp(user) || reducesLastAxis(user) || isContractionLike(user) || isLoopNest(user);
}

// Contractions read their operands many times, and have kernels for operands that are arguments, on the CPU
// also for parts of them in 32 or 64 bits.
static bool isSlowInContraction(Operation *slice, const ClusterGraph &graph) {
  Value part = slice->getResult(0);
  Type element = typeOf(part).getElementType();
  bool inPlace = graph.classes.contractsSlices() && (element.isF32() || element.isF64());
  return llvm::any_of(graph.usesOf(part), [&](const ClusterGraph::Use &use) {
    Operation *user = use.operand->getOwner();
    const Cluster *cluster = graph.clusterOf(user);
    return isContractionOp(user) &&
           (!inPlace || use.operand->get() != part || !cluster ||
            !graph.classes.whyNotJoined({slice}, cluster->members.getArrayRef()).empty());
  });
}

// Whether an update could run before the users of the slice: in place it would replace elements that the
// slice reads.
static bool mayBeUpdatedFirst(Operation *slice) {
  Value source = slice->getOperand(0);
  return llvm::any_of(source.getUsers(), [&](Operation *user) {
    auto fusable = dyn_cast<FusableOpInterface>(user);
    PartialUpdate update = fusable ? fusable.getPartialUpdate() : PartialUpdate();
    Operation *replacement = update.part ? update.part.getDefiningOp() : nullptr;
    bool waits = replacement && slice->hasOneUse() && *slice->user_begin() == replacement;
    return update.whole && update.whole == source && !waits;
  });
}

Attribute fuse::groupOf(const Cluster &cluster) { return fuseGroupOf(cluster.members.front()); }

bool fuse::isReadByOtherGroup(Operation *op, const ClusterGraph &graph) {
  return llvm::any_of(graph.usesOf(op->getResult(0)), [&](const ClusterGraph::Use &use) {
    Cluster *cluster = graph.clusterOf(use.operand->getOwner());
    return (cluster ? groupOf(*cluster) : Attribute()) != fuseGroupOf(op);
  });
}

bool fuse::usersTakeCopies(Operation *op, const ClusterGraph &graph) {
  // What no group asked for is free in each.
  if (!isSmallConstant(op) && fuseGroupOf(op) && isReadByOtherGroup(op, graph))
    return false;
  bool isDynamic = viewKindOf(op) == ViewKind::dynamicSlice;
  if (isDynamic && (isSlowInContraction(op, graph) || mayBeUpdatedFirst(op)))
    return false;
  return !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    // Kernels pad arguments, not views that they would have to compute.
    return (graph.isCopied(user) && !padsRows(user)) || (graph.clusterOf(user) && mayReadThroughViews(user));
  });
}

// Kernels tell their iteration spaces apart by types: where one result says 5000 and another `?`, what both
// read would be computed for each of them, a row's sum even for each element, although the sizes are the
// same.
static bool hasSpaceOf(Value value, Value space, ClusterGraph &graph) {
  return typeOf(value).getShape() == typeOf(space).getShape() && graph.sizes.surelySameShape(value, space);
}

// The shape of the space without its last axis, or with 1 in its place.
static bool hasRowsOf(Value value, Value space, ClusterGraph &graph) {
  int64_t rank = typeOf(space).getRank(), own = typeOf(value).getRank();
  if (rank == 0 || (own != rank - 1 && own != rank))
    return false;
  if (own == rank && typeOf(value).getDimSize(rank - 1) != 1)
    return false;
  return llvm::all_of(llvm::seq<int64_t>(0, rank - 1), [&](int64_t axis) {
    return typeOf(value).getDimSize(axis) == typeOf(space).getDimSize(axis) &&
           graph.sizes.originOfSize(value, axis) == graph.sizes.originOfSize(space, axis);
  });
}

// Whether each point of the nest reads the element at the same point.
static bool readsOwnPoint(LoopNestOpInterface nest, OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()) || reduces(nest))
    return false;
  ElementAccess access = nest.getAccesses()[tensorNumber(nest, operand.getOperandNumber())];
  return access.isPlain() && access.map == nest.getResultMaps().front();
}

// At which points a member reads its operand.
static ComputeAt operandReadAt(OpOperand &operand, ClusterGraph &graph) {
  Operation *member = operand.getOwner();
  ComputeAt at = graph.computedAt(member);
  if (isElementwiseOp(member))
    return at;
  if (isLoopNest(member))
    return readsOwnPoint(cast<LoopNestOpInterface>(member), operand) ? at : ComputeAt::reduction;
  bool reducesRows = reducesLastAxis(member) && at == ComputeAt::row &&
                     hasSpaceOf(member->getOperand(0), graph.clusterOf(member)->space, graph);
  return reducesRows ? ComputeAt::point : ComputeAt::reduction;
}

// At which points a member reads a value through copied operations.
static ComputeAt readThroughAt(Value value, Operation *through, OpOperand &operand, const Cluster &cluster,
                               ClusterGraph &graph) {
  ComputeAt at = operandReadAt(operand, graph);
  if (isConversion(through))
    return at;
  if (viewKindOf(through) == ViewKind::reshape && at == ComputeAt::row &&
      hasRowsOf(value, cluster.space, graph))
    return ComputeAt::row;
  if (viewKindOf(through) == ViewKind::broadcast && at == ComputeAt::point &&
      hasRowsOf(value, cluster.space, graph) && typeOf(value).getRank() == typeOf(cluster.space).getRank())
    return ComputeAt::row;
  return ComputeAt::reduction;
}

// The one ComputeAt at which all members read the value; nothing when they differ.
static std::optional<ComputeAt> usesReadAt(Value value, const Cluster &cluster, ClusterGraph &graph) {
  std::optional<ComputeAt> common;
  for (const ClusterGraph::Use &use : graph.usesOf(value)) {
    Operation *member = use.operand->getOwner();
    if (graph.clusterOf(member) != &cluster)
      continue;
    // A chain of several copied operations may lead to any element.
    bool direct = !use.through || use.operand->get() == use.through->getResult(0);
    ComputeAt at = !use.through ? operandReadAt(*use.operand, graph)
                   : direct     ? readThroughAt(value, use.through, *use.operand, cluster, graph)
                                : ComputeAt::reduction;
    if (common && *common != at)
      return std::nullopt;
    common = at;
  }
  return common;
}

// Kernels of contractions have tiles of registers, which read operands by loops alone.
static constexpr StringRef kNestAndContraction =
    "contractions and other nests of loops have kernels of their own";

static constexpr StringRef kOneReduction =
    "the fusion has a product with a fixed instruction, whose kernel takes no other reduction";

// The kernels with tensor cores read the product element by element.
static StringRef whyNoMmaKernel(const Cluster &cluster, ClusterGraph &graph) {
  if (cluster.reduces)
    return "its instruction is fixed, and its kernel takes no other reduction";
  if (!llvm::all_of(cluster.members,
                    [&](Operation *member) { return graph.computedAt(member) == ComputeAt::point; }))
    return "its instruction is fixed, and its kernel writes results of its shape only";
  return {};
}

static bool mayShareOrder(OrderAttr a, OrderAttr b) { return !a || !b || a == b; }

// Elementwise code inside a reduction runs once for each element that is reduced. A contraction reads each
// element of its operands once for every tile of its result.
static StringRef whyNotInside(Operation *op, const Cluster &cluster, ClusterGraph &graph) {
  for (const ClusterGraph::Use &use : graph.usesOf(op->getResult(0))) {
    Operation *member = use.operand->getOwner();
    if (graph.clusterOf(member) != &cluster)
      return "a user is outside the fusion";
    bool converts =
        use.through && isConversion(use.through) && use.operand->get() == use.through->getResult(0);
    if (use.through && !converts)
      return "it is read at other points than those of the fusion";
    if (isContractionOp(member))
      return "the contraction would compute it again for every tile";
    if (isLoopNest(member))
      return "the loops would compute it again for every iteration that reads it";
  }
  return {};
}

static Fit refuse(StringRef reason) { return {ComputeAt::point, false, reason}; }

static bool hasLoopNest(const Cluster &cluster) { return llvm::any_of(cluster.members, isLoopNest); }
static bool hasContraction(const Cluster &cluster) { return llvm::any_of(cluster.members, isContractionOp); }

static Fit fitElementwise(Operation *op, ComputeAt at, const Cluster &cluster, ClusterGraph &graph) {
  Value result = op->getResult(0);
  if (at == ComputeAt::point && !hasSpaceOf(result, cluster.space, graph))
    return refuse("its shape differs from the kernel's iteration space");
  if (at == ComputeAt::row && !hasRowsOf(result, cluster.space, graph))
    return refuse("its shape differs from the kernel's iteration space");
  if (at == ComputeAt::reduction)
    return {at, false, whyNotInside(op, cluster, graph)};
  if (cluster.usesMma && at != ComputeAt::point)
    return refuse(
        "the fusion has a product with a fixed instruction, whose kernel writes results of its shape only");
  return {at, false, {}};
}

// Each of several tensors may be reduced to one number, whatever their shapes.
static bool reducesToNumber(Operation *op) {
  return reducesLastAxis(op) && typeOf(op->getResult(0)).getRank() == 0;
}

static bool reducesOnlyToNumbers(const Cluster &cluster) {
  return llvm::all_of(cluster.members, [](Operation *member) {
    bool isNumber = typeOf(member->getResult(0)).getRank() == 0;
    return isNumber || (member->hasOneUse() && isElementwiseOp(member));
  });
}

static Fit fitRowReduction(Operation *op, ComputeAt at, const Cluster &cluster, ClusterGraph &graph) {
  if (at == ComputeAt::reduction)
    return refuse("it is reduced again at other points");
  if (cluster.usesMma)
    return refuse(kOneReduction);
  if (!mayShareOrder(orderOf(op), cluster.order) || cluster.hasChains)
    return refuse("the fusion sums in another order");
  if (at == ComputeAt::row) {
    if (cluster.reduces && !cluster.hasRows)
      return refuse("the fusion reduces other axes");
    if (!hasSpaceOf(op->getOperand(0), cluster.space, graph) &&
        !(reducesToNumber(op) && reducesOnlyToNumbers(cluster)))
      return refuse("it reduces another iteration space");
    return {at, false, {}};
  }
  // The first reduction of the cluster, which is read at every point: each point becomes a row of its
  // operand.
  if (hasLoopNest(cluster))
    return refuse("the fusion has a nest of loops at its points");
  if (cluster.reduces)
    return refuse("the fusion reduces another iteration space");
  if (!hasSpaceOf(op->getResult(0), cluster.space, graph))
    return refuse("its shape differs from the kernel's iteration space");
  return {ComputeAt::row, true, {}};
}

static Fit fitContractionLike(Operation *op, ComputeAt at, const Cluster &cluster, ClusterGraph &graph) {
  if (at != ComputeAt::point)
    return refuse("it is read at other points than those of the fusion");
  if (cluster.hasRows || cluster.hasChains || !mayShareOrder(orderOf(op), cluster.order))
    return refuse("the fusion sums in another order");
  if (!hasSpaceOf(op->getResult(0), cluster.space, graph))
    return refuse("its shape differs from the kernel's iteration space");
  if (cluster.usesMma)
    return refuse(kOneReduction);
  if (isContractionOp(op) && hasLoopNest(cluster))
    return refuse(kNestAndContraction);
  return {at, false, hasFixedInstruction(op) ? whyNoMmaKernel(cluster, graph) : StringRef()};
}

static bool isReducingNest(Operation *op) {
  auto nest = dyn_cast<LoopNestOpInterface>(op);
  return nest && reduces(nest);
}

// A nest writes each element of its result once, at the points of the fusion.
static Fit fitLoopNest(Operation *op, ComputeAt at, const Cluster &cluster, ClusterGraph &graph) {
  if (at != ComputeAt::point)
    return refuse("it is read at other points than those of the fusion");
  if (isReducingNest(op) && cluster.reduces)
    return refuse("the fusion sums in another order");
  if (!hasSpaceOf(op->getResult(0), cluster.space, graph))
    return refuse("its shape differs from the kernel's iteration space");
  return {at, false, hasContraction(cluster) ? kNestAndContraction : StringRef()};
}

static Fit fitByLoops(Operation *op, const Cluster &cluster, ClusterGraph &graph) {
  if (weightOf(cluster) >= kWeightLimit)
    return refuse("the fusion is as large as one kernel gets");
  bool elementwise = isElementwiseOp(op), row = reducesLastAxis(op), contraction = isContractionLike(op);
  bool nest = isLoopNest(op);
  if (!elementwise && !row && !contraction && !nest)
    return refuse("its kind has a kernel of its own");
  if (llvm::any_of(cluster.members, [](Operation *member) { return !mayReadThroughViews(member); }))
    return refuse("the user's kind has a kernel of its own");
  if (cluster.hasSpaces && typeOf(op->getResult(0)).getRank() > 0 &&
      graph.hasUsesOutside(op->getResult(0), &cluster))
    return refuse("the fusion reduces tensors to numbers and writes nothing else");
  std::optional<ComputeAt> at = usesReadAt(op->getResult(0), cluster, graph);
  if (!at)
    return refuse("it is read both at the points of the fusion and elsewhere");
  return elementwise ? fitElementwise(op, *at, cluster, graph)
         : row       ? fitRowReduction(op, *at, cluster, graph)
         : nest      ? fitLoopNest(op, *at, cluster, graph)
                     : fitContractionLike(op, *at, cluster, graph);
}

static StringRef whyNotJoined(ArrayRef<Operation *> one, ArrayRef<Operation *> other, ClusterGraph &graph) {
  StringRef refusal = graph.classes.whyNotJoined(one, other);
  const FusionPolicy *policy = FusionPolicy::get(one.front()->getContext());
  return refusal.empty() && policy ? policy->whyNotJoined(one, other) : refusal;
}

Fit fuse::fitInto(Operation *op, const Cluster &cluster, ClusterGraph &graph) {
  if (fuseGroupOf(op) != groupOf(cluster))
    return refuse("it is in another fuse group");
  Fit fit = fitByLoops(op, cluster, graph);
  if (fit.refusal.empty())
    fit.refusal = whyNotJoined(op, cluster.members.getArrayRef(), graph);
  return fit;
}

void fuse::initialize(Cluster &cluster, Operation *op) {
  cluster.reduces = reducesLastAxis(op) || isContractionLike(op) || isReducingNest(op);
  cluster.hasChains = isReducingNest(op) && !orderOf(op);
  cluster.hasRows = reducesLastAxis(op);
  cluster.usesMma = hasFixedInstruction(op);
  cluster.order = orderOf(op);
  if (cluster.hasRows)
    cluster.space = op->getOperand(0);
}

void fuse::accept(Operation *op, const Fit &fit, Cluster &cluster, ClusterGraph &graph) {
  if (fit.opensRows)
    for (Operation *member : cluster.members)
      if (graph.computedAt(member) == ComputeAt::point)
        graph.setComputedAt(member, ComputeAt::row);
  if (reducesLastAxis(op)) {
    cluster.hasSpaces |= cluster.hasRows && !hasSpaceOf(op->getOperand(0), cluster.space, graph);
    if (!cluster.hasSpaces)
      cluster.space = op->getOperand(0);
    cluster.reduces = cluster.hasRows = true;
  }
  cluster.reduces |= isContractionLike(op) || isReducingNest(op);
  cluster.hasChains |= isReducingNest(op) && !orderOf(op);
  cluster.usesMma |= hasFixedInstruction(op);
  cluster.hasRows |= fit.at == ComputeAt::row;
  if (!cluster.order)
    cluster.order = orderOf(op);
  graph.add(op, cluster, fit.at);
}

bool fuse::haveSameSpace(const Cluster &a, const Cluster &b, ClusterGraph &graph) {
  auto ownKernel = [](const Cluster &cluster) {
    return llvm::any_of(cluster.members, [](Operation *member) { return !mayReadThroughViews(member); });
  };
  // A kernel either reduces its rows or accumulates into its elements.
  bool clash = (a.hasRows && b.reduces && !b.hasRows) || (b.hasRows && a.reduces && !a.hasRows);
  clash |= (hasLoopNest(a) && hasContraction(b)) || (hasLoopNest(b) && hasContraction(a));
  clash |= (a.hasChains && b.reduces) || (b.hasChains && a.reduces);
  if (a.usesMma || b.usesMma)
    clash |= (a.reduces && b.reduces) || a.hasRows || b.hasRows;
  return !clash && groupOf(a) == groupOf(b) && !a.hasSpaces && !b.hasSpaces &&
         weightOf(a) + weightOf(b) <= kWeightLimit && mayShareOrder(a.order, b.order) && !ownKernel(a) &&
         !ownKernel(b) && hasSpaceOf(a.space, b.space, graph) &&
         whyNotJoined(a.members.getArrayRef(), b.members.getArrayRef(), graph).empty();
}
