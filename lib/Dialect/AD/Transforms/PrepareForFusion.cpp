// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes facts about constants and broadcasts into the program that fusion needs. It runs before fusion,
// while operations are not yet in the regions of fusions.

#include "PrepareForFusion.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"

using namespace mlir;
using namespace mlir::ad;

// A tensor of this size would make the compiled program as large.
static constexpr int64_t kLargeBytes = 1 << 20;

// A kernel broadcasts one number that fills a large tensor, for users that need the tensor in memory.
static void broadcastLargeConstant(ConstantOp constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  Type element = type.getElementType();
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!value || !value.isSplat() ||
      type.getNumElements() <= kLargeBytes / llvm::divideCeil(element.getIntOrFloatBitWidth(), 8))
    return;
  auto needsMemory = [](OpOperand &use) {
    return !isa<FusableOpInterface>(use.getOwner()) && !isInKernel(use.getOwner());
  };
  if (llvm::none_of(constant->getUses(), needsMemory))
    return;
  OpBuilder builder(constant->getBlock(), std::next(constant->getIterator()));
  DenseElementsAttr number = value.resizeSplat(RankedTensorType::get({}, element));
  Value scalar = ConstantOp::create(builder, constant.getLoc(), ElementsAttr(number));
  Value filled =
      BroadcastOp::create(builder, constant.getLoc(), type, scalar, ValueRange(), PermissionsAttr());
  constant.getResult().replaceUsesWithIf(filled, needsMemory);
  if (constant->use_empty())
    constant.erase();
}

// Where the sizes come from cannot be seen from inside of a fusion.
static void markSameSizes(BroadcastOp op) {
  RankedTensorType from = op.getInput().getType(), to = op.getType();
  int64_t leading = to.getRank() - from.getRank();
  bool agree = llvm::all_of(llvm::seq<int64_t>(0, from.getRank()), [&](int64_t axis) {
    return from.getDimSize(axis) == 1 || haveSameSize(op.getInput(), axis, op.getResult(), leading + axis);
  });
  if (!from.hasStaticShape() && agree)
    op->setAttr(kSameSizesAttr, UnitAttr::get(op.getContext()));
}

void ad::prepareForFusion(Operation *root) {
  root->walk(broadcastLargeConstant);
  root->walk(markSameSizes);
}
