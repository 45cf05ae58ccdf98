// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AccessMaps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

Position AccessMaps::insideSlice(tensor::ExtractSliceOp slice, const Position &position) {
  Position inside;
  for (auto [index, mixed, stride] :
       llvm::zip_equal(position, slice.getMixedOffsets(), slice.getStaticStrides())) {
    if (index.varies) {
      inside.push_back(index);
      continue;
    }
    std::optional<int64_t> known = getConstantIntValue(mixed);
    Value offset = known ? indexConstant(*known) : scalars.lookup(cast<Value>(mixed));
    Value base = index.base ? binary<arith::MulIOp>(index.base, indexConstant(stride)) : Value();
    if (!index.lanes) {
      inside.push_back({binary<arith::AddIOp>(base, offset), wrappingProduct(index.step, stride), nullptr});
      continue;
    }
    Value scaled = binary<arith::MulIOp>(index.lanes, laneValues.splat(indexConstant(stride), lanes));
    inside.push_back({nullptr, 0, binary<arith::AddIOp>(scaled, laneValues.splat(offset, lanes))});
  }
  return inside;
}

SmallVector<Index> AccessMaps::loopsFromOutput(linalg::GenericOp generic, AffineMap map,
                                               const Position &position) {
  if (flat)
    return {position.begin(), position.end()};
  SmallVector<Index> loops(generic.getNumLoops());
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = position[i];
  return loops;
}

Position AccessMaps::apply(AffineMap map, ArrayRef<Index> loops) {
  if (flat)
    return Position(loops);
  Position position;
  for (AffineExpr expr : map.getResults())
    position.push_back(applyExpr(expr, loops));
  return position;
}

static Value combineIndices(OpBuilder &builder, Location loc, AffineExprKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case AffineExprKind::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  case AffineExprKind::FloorDiv: // indices are not negative
    return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  case AffineExprKind::Mod:
    return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
  default:
    return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  }
}

// Dimensions, constants, sums, and products, quotients and remainders by a constant: our linalg has no
// others.
Index AccessMaps::applyExpr(AffineExpr expr, ArrayRef<Index> loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {indexConstant(constant.getValue()), 0, nullptr};
  auto pair = cast<AffineBinaryOpExpr>(expr);
  Index lhs = applyExpr(pair.getLHS(), loops), rhs = applyExpr(pair.getRHS(), loops);
  if (lhs.varies || rhs.varies)
    return Index::varying();
  AffineExprKind kind = expr.getKind();
  bool divides = kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod;
  if (lhs.lanes || rhs.lanes || (divides && lhs.step != 0))
    return {nullptr, 0,
            combineIndices(builder, loc, kind, laneValues.laneVector(lhs), laneValues.laneVector(rhs))};
  int64_t factor = kind == AffineExprKind::Mul ? cast<AffineConstantExpr>(pair.getRHS()).getValue() : 1;
  return {combineIndices(builder, loc, kind, lhs.base, rhs.base),
          wrappingSum(wrappingProduct(lhs.step, factor), rhs.step), nullptr};
}

std::optional<Index> AccessMaps::affineIndex(Value value, ArrayRef<Index> loops) {
  if (Value scalar = scalars.lookupOrNull(value))
    return Index{scalar, 0, nullptr};
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op)) {
    const Index &loop = loops[index.getDim()];
    return loop.lanes ? std::nullopt : std::optional(loop);
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Index> lhs = affineIndex(op->getOperand(0), loops);
  std::optional<Index> rhs = affineIndex(op->getOperand(1), loops);
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return Index{binary<arith::AddIOp>(lhs->base, rhs->base), wrappingSum(lhs->step, rhs->step), nullptr};
  if (isa<arith::SubIOp>(op))
    return Index{binary<arith::SubIOp>(lhs->base, rhs->base),
                 wrappingSum(lhs->step, wrappingProduct(rhs->step, -1)), nullptr};
  std::optional<int64_t> factor = getConstantIntValue(rhs->base);
  if (rhs->step != 0 || !factor)
    return std::nullopt;
  return Index{binary<arith::MulIOp>(lhs->base, rhs->base), wrappingProduct(lhs->step, *factor), nullptr};
}
