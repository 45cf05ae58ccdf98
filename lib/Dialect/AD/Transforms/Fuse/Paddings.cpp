// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Paddings.h"
#include "../PaddedRows.h"
#include "Rules.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// Whether the innermost loop of the sum runs along rows of the operand.
static bool sumsRow(FusableOpInterface contraction, AffineMap map) {
  SmallVector<utils::IteratorType> loops = contraction.getIteratorTypes();
  auto row = dyn_cast<AffineDimExpr>(map.getResults().back());
  for (int64_t loop = int64_t(loops.size()) - 1; row && loop >= 0; --loop)
    if (loops[loop] == utils::IteratorType::reduction)
      return row.getPosition() == loop;
  return false;
}

static bool hasStaticShapes(Operation *op) {
  auto isStatic = [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); };
  return llvm::all_of(op->getOperandTypes(), isStatic) && llvm::all_of(op->getResultTypes(), isStatic);
}

// How a convolution reads the tensor: at sums of loops. Null for other uses.
static AffineMap mapOfWindows(OpOperand &use) {
  Operation *op = use.getOwner();
  if (!isContractionOp(op) || use.getOperandNumber() != 0 || op->getNumOperands() != 2 ||
      !hasStaticShapes(op))
    return {};
  AffineMap map = cast<FusableOpInterface>(op).getAccessMaps().front();
  return map && map.getNumResults() > 0 && !map.isProjectedPermutation() ? map : AffineMap();
}

// Whether the kernel of a convolution reads a row of the input at a time: as vectors of the result's columns,
// or element by element in its innermost loop. It then finds out once for the row whether it is padding.
static bool readsRows(OpOperand &use) {
  AffineMap map = mapOfWindows(use);
  if (!map)
    return false;
  auto contraction = cast<FusableOpInterface>(use.getOwner());
  AffineMap result = contraction.getAccessMaps().back();
  bool isColumn = result.getNumResults() > 0 && result.getResults().back() == map.getResults().back() &&
                  isa<AffineDimExpr>(map.getResults().back());
  return isColumn || sumsRow(contraction, map);
}

// A view of an argument that the kernel would have to compute.
static bool isComputedInside(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isSmallConstant(op) || isCopyableView(op));
}

// Whether a padded copy, which is made once, would take longer than to find out in each of the kernels what
// is padding. Of a row that is no vector, that takes as long as its product.
static bool isSlowerAsCopy(Operation *pad, const ClusterGraph &graph) {
  constexpr size_t kMaxKernels = 4;
  constexpr int64_t kVectorBits = 512, kFewProducts = 9;
  SmallVector<ClusterGraph::Use> uses = graph.usesOf(pad->getResult(0));
  RankedTensorType type = typeOf(pad->getOperand(0));
  if (type.getShape().back() * type.getElementTypeBitWidth() >= kVectorBits)
    return uses.size() <= kMaxKernels;
  if (uses.size() != 1)
    return false;
  OpOperand &use = *uses.front().operand;
  AffineMap map = mapOfWindows(use);
  return map &&
         (sumsRow(cast<FusableOpInterface>(use.getOwner()), map) ||
          typeOf(use.getOwner()->getOperand(1)).getNumElements() <= kFewProducts * type.getShape().back());
}

bool fuse::isPaddedByUsers(Operation *op, const ClusterGraph &graph) {
  if (!graph.classes.contractsSlices() || op->use_empty() || !padsRows(op) || !isSlowerAsCopy(op, graph) ||
      isComputedInside(op->getOperand(0)) || isReadByOtherGroup(op, graph))
    return false;
  auto isPadded = [&](OpOperand &use, ArrayRef<Operation *> copies) {
    const Cluster *cluster = graph.clusterOf(use.getOwner());
    return cluster && readsRows(use) &&
           graph.classes.whyNotJoined(copies, cluster->members.getArrayRef()).empty();
  };
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (!graph.isCopied(user) || !isPartOfRows(user))
      return isPadded(use, {op});
    return llvm::all_of(user->getUses(), [&](OpOperand &ofPart) { return isPadded(ofPart, {op, user}); });
  });
}
