// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Paddings.h"
#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

// The kernel has as many zeros on the stack as the last axis has elements.
static constexpr int64_t kMaxBytesOfRow = 16 * 1024;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// Zeros around a tensor of static shape, none of them along the last axis, whose elements are loaded as
// vectors.
static bool isAroundRows(PadOp pad) {
  RankedTensorType type = typeOf(pad.getInput());
  auto isZero = [](int64_t count) { return count == 0; };
  bool isWide = type.getElementType().isF32() || type.getElementType().isF64();
  if (!isWide || type.getRank() == 0 || !type.hasStaticShape() || type.getNumElements() == 0 ||
      !llvm::all_of(pad.getInterior(), isZero) || pad.getLow().back() != 0 || pad.getHigh().back() != 0 ||
      type.getShape().back() * type.getElementTypeBitWidth() > 8 * kMaxBytesOfRow)
    return false;
  return matchPattern(pad.getValue(), m_PosZeroFloat());
}

// Whether the innermost loop of the sum runs along rows of the input.
static bool sumsRow(ConvOp conv) {
  std::optional<ConvAxes> axes = ConvAxes::split(conv.getDims());
  SmallVector<char> summed = axes->summed();
  return !summed.empty() && summed.back() == axes->input.back();
}

// Whether the kernel of a convolution reads a row of the input at a time: as vectors of the result's columns,
// or element by element in its innermost loop. It then finds out once for the row whether it is padding.
static bool readsRows(OpOperand &use) {
  auto conv = dyn_cast<ConvOp>(use.getOwner());
  if (!conv || use.getOperandNumber() != 0 || !conv.isUnpadded() ||
      !typeOf(conv.getResult()).hasStaticShape() || !typeOf(conv.getFilter()).hasStaticShape())
    return false;
  std::optional<ConvAxes> axes = ConvAxes::split(conv.getDims());
  char row = axes->input.back();
  bool isColumn = !axes->result.empty() && axes->result.back() == row;
  return !ConvAxes::isSpatial(row) && (isColumn || sumsRow(conv));
}

// Whole rows of the padded input, such as those that a phase of a convolution reads.
static bool isPartOfRows(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  auto isOne = [](int64_t stride) { return stride == 1; };
  return slice && llvm::all_of(slice.getStrides(), isOne) && typeOf(slice.getResult()).hasStaticShape() &&
         typeOf(slice.getResult()).getShape().back() == typeOf(slice.getInput()).getShape().back();
}

// A view of an argument that the kernel would have to compute.
static bool isComputedInside(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isSmallConstant(op) || isCopyableView(op));
}

// Whether a padded copy, which is made once, would take longer than to find out in each of the kernels what
// is padding. Of a row that is no vector, that takes as long as its product.
static bool isSlowerAsCopy(PadOp pad, const ClusterGraph &graph) {
  constexpr size_t kMaxKernels = 4;
  constexpr int64_t kVectorBits = 512, kFewProducts = 9;
  SmallVector<ClusterGraph::Use> uses = graph.usesOf(pad.getResult());
  RankedTensorType type = typeOf(pad.getInput());
  if (type.getShape().back() * type.getElementTypeBitWidth() >= kVectorBits)
    return uses.size() <= kMaxKernels;
  auto conv = dyn_cast<ConvOp>(uses.front().operand->getOwner());
  return uses.size() == 1 && conv &&
         (sumsRow(conv) ||
          typeOf(conv.getFilter()).getNumElements() <= kFewProducts * type.getShape().back());
}

bool fuse::isPaddedByUsers(Operation *op, const ClusterGraph &graph) {
  auto pad = dyn_cast<PadOp>(op);
  if (!pad || !graph.classes.contractsSlices() || pad->use_empty() || !isAroundRows(pad) ||
      !isSlowerAsCopy(pad, graph) || isComputedInside(pad.getInput()) || isReadByOtherGroup(op, graph))
    return false;
  auto isPadded = [&](OpOperand &use, ArrayRef<Operation *> copies) {
    const Cluster *cluster = graph.clusterOf(use.getOwner());
    return cluster && readsRows(use) &&
           graph.classes.whyNotJoined(copies, cluster->members.getArrayRef()).empty();
  };
  return llvm::all_of(pad->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (!graph.isCopied(user) || !isPartOfRows(user))
      return isPadded(use, {op});
    return llvm::all_of(user->getUses(), [&](OpOperand &ofPart) { return isPadded(ofPart, {op, user}); });
  });
}
