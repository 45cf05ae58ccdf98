// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "LoopNest.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// A tensor with an axis for each of `loops`, in this order.
struct Factor {
  Value tensor;
  SmallVector<unsigned> loops;

  std::optional<int64_t> axisOf(unsigned loop) const {
    auto found = llvm::find(loops, loop);
    return found == loops.end() ? std::nullopt : std::optional<int64_t>(found - loops.begin());
  }
};

/// Where the loops of a contraction are. The result has the batch axes first.
struct ContractedAxes {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  SmallVector<unsigned> result;
};
} // namespace

// A transposition before a contraction only names axes.
static Factor factorOf(TensorCode code, const LoopNest &nest, Value aligned) {
  Factor factor;
  factor.loops = loopsOf(aligned, nest.sizes.size());
  factor.tensor = spreadOverLoops(code, aligned, factor.loops, nest.sizes);
  auto transpose = factor.tensor.getDefiningOp<TransposeOp>();
  if (!transpose)
    return factor;
  Factor written = {transpose.getInput(), factor.loops};
  for (auto [axis, from] : llvm::enumerate(transpose.getPermutation()))
    written.loops[from] = factor.loops[axis];
  return written;
}

static std::optional<ContractedAxes> pairAxes(const LoopNest &nest, const Factor &lhs, const Factor &rhs) {
  ContractedAxes axes;
  for (unsigned loop = 0; loop < nest.sizes.size(); ++loop) {
    std::optional<int64_t> left = lhs.axisOf(loop), right = rhs.axisOf(loop);
    bool isReduced = nest.isReduced(loop);
    bool isOneIteration = isConstantIntValue(nest.sizes[loop], 1);
    if (isReduced && !(left && right) && !(isOneIteration && !left && !right))
      return std::nullopt;
    if (!left || !right)
      continue;
    (isReduced ? axes.lhsContract : axes.lhsBatch).push_back(*left);
    (isReduced ? axes.rhsContract : axes.rhsBatch).push_back(*right);
    if (!isReduced)
      axes.result.push_back(loop);
  }
  if (axes.lhsContract.empty())
    return std::nullopt;
  for (const Factor *factor : {&lhs, &rhs})
    for (unsigned loop : factor->loops)
      if (!(lhs.axisOf(loop) && rhs.axisOf(loop)))
        axes.result.push_back(loop);
  return axes;
}

Value ad::contract(TensorCode code, const LoopNest &nest, Value lhs, Value rhs, Type element) {
  Factor left = factorOf(code, nest, lhs), right = factorOf(code, nest, rhs);
  std::optional<ContractedAxes> axes = pairAxes(nest, left, right);
  if (!axes)
    return {};
  RankedTensorType type = typeOfSizes(nest.sizesOf(axes->result), element);
  Value dot =
      DotOp::create(code.builder, code.loc, type, left.tensor, right.tensor, axes->lhsBatch, axes->rhsBatch,
                    axes->lhsContract, axes->rhsContract, OrderAttr(), PermissionsAttr());
  return alignInAnyOrder(code, dot, axes->result, nest.sizes.size());
}
