// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Kernel/Contractions.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr int64_t kPair = kBF16DotProduct.group;

// acc + f32(a) * f32(b), as the conversion of contractions writes it.
static bool multipliesAndAddsBF16(linalg::GenericOp generic) {
  Block *body = generic.getBlock();
  auto fma = body->getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  auto widens = [&](Value value, unsigned argument) {
    auto widening = value.getDefiningOp<ConvertOp>();
    return widening && widening.getInput() == body->getArgument(argument) &&
           widening.getInput().getType().isBF16();
  };
  return fma && fma.getType().isF32() && widens(fma.getA(), 0) && widens(fma.getB(), 1) &&
         fma.getC() == body->getArgument(2);
}

// Whether the operand's own type says that its contracted axis has an even size.
static bool hasWholePairs(linalg::GenericOp contraction, OpOperand &operand, unsigned loopK) {
  AffineMap map = contraction.getMatchingIndexingMap(&operand);
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  // The layout of a packed operand says it.
  if (type && type.hasStaticShape() && !map.isProjectedPermutation())
    return contraction.getStaticLoopRanges()[loopK] % kPair == 0;
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    if (type && expr == getAffineDimExpr(loopK, map.getContext()))
      return !type.isDynamicDim(axis) && type.getDimSize(axis) % kPair == 0;
  return false;
}

bool ad::usesPairDotProducts(linalg::GenericOp contraction, OrderAttr order) {
  SmallVector<unsigned> reduced;
  contraction.getReductionDims(reduced);
  bool ordered = !order || (!order.hasLanes() && order.getPartLength() % kPair == 0);
  // An instruction that is written is one of tensor cores.
  if (contraction->hasAttr(kInstructionAttr) || !allows(contraction, Permissions::mma) || !ordered ||
      reduced.size() != 1 || contraction.getNumDpsInputs() != 2 || contraction.getNumResults() != 1 ||
      !multipliesAndAddsBF16(contraction))
    return false;
  return llvm::all_of(contraction.getDpsInputOperands(), [&](OpOperand *operand) {
    return hasWholePairs(contraction, *operand, reduced.front());
  });
}

bool ad::multipliesBytes(linalg::GenericOp contraction) {
  if (contraction.getNumReductionLoops() != 1 || contraction.getNumDpsInputs() != 2 ||
      contraction.getNumResults() != 1)
    return false;
  Block *body = contraction.getBlock();
  auto widens = [&](Value value, unsigned argument) {
    Operation *widening = value.getDefiningOp();
    return isa_and_nonnull<ConvertOp, arith::ExtSIOp>(widening) &&
           widening->getOperand(0) == body->getArgument(argument) &&
           body->getArgument(argument).getType().isInteger(8);
  };
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (!add || !add.getType().isInteger(32))
    return false;
  Value sum = body->getArgument(2), lhs = add.getLhs(), rhs = add.getRhs();
  auto product = (lhs == sum ? rhs : lhs).getDefiningOp<arith::MulIOp>();
  if ((lhs == sum) == (rhs == sum) || !product)
    return false;
  return (widens(product.getLhs(), 0) && widens(product.getRhs(), 1)) ||
         (widens(product.getLhs(), 1) && widens(product.getRhs(), 0));
}
