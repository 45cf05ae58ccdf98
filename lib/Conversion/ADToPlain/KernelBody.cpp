// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelBody.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

OrderAttr plain::orderOfKernel(linalg::GenericOp generic) {
  if (auto kernel = generic->getParentOfType<KernelOp>())
    return kernel.getOrderAttr();
  auto fusion = generic->getParentOfType<FusionOp>();
  return fusion ? fusion.getOrderAttr() : OrderAttr();
}

Value plain::indexValue(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  AffineMap map = AffineMap::get(loops.size(), 0, expr);
  return getValueOrCreateConstantIndexOp(
      builder, loc, affine::makeComposedFoldedAffineApply(builder, loc, map, getAsOpFoldResult(loops)));
}

void plain::cloneBody(OpBuilder &builder, linalg::GenericOp generic, ValueRange loops, IRMapping &mapping) {
  for (OpOperand *input : generic.getDpsInputOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(input);
    if (mapping.contains(argument) || argument.use_empty())
      continue;
    if (!isa<RankedTensorType>(input->get().getType())) {
      mapping.map(argument, input->get());
      continue;
    }
    SmallVector<Value> indices;
    for (AffineExpr expr : generic.getMatchingIndexingMap(input).getResults())
      indices.push_back(indexValue(builder, generic.getLoc(), expr, loops));
    mapping.map(argument,
                tensor::ExtractOp::create(builder, generic.getLoc(), input->get(), indices).getResult());
  }
  for (Operation &op : generic.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      mapping.map(index.getResult(), loops[index.getDim()]);
    else if (op.getNumResults() == 0 || !mapping.contains(op.getResult(0)))
      builder.clone(op, mapping);
  }
}

Value plain::makePointwise(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<OpFoldResult> shape,
                           Type element, function_ref<Value(OpBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      builder, loc, empty.getType(), inputs, empty, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
        linalg::YieldOp::create(nested, nestedLoc, body(nested, scalars.take_front(inputs.size())));
      });
  return made.getResult(0);
}
