// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Accesses.h"
#include "RaiseScalars.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::ad;

Value ad::alignWithLoops(TensorCode code, Value tensor, ArrayRef<unsigned> loops, unsigned loopCount) {
  SmallVector<OpFoldResult> given = code.sizes(tensor), sizes;
  for (unsigned loop = loops.empty() ? loopCount : loops.front(), axis = 0; loop < loopCount; ++loop) {
    bool isAxis = axis < loops.size() && loops[axis] == loop;
    sizes.push_back(isAxis ? given[axis++] : OpFoldResult(code.builder.getIndexAttr(1)));
  }
  return sizes.size() == loops.size() ? tensor : code.reshape(tensor, sizes);
}

SmallVector<unsigned> ad::loopsOf(Value aligned, unsigned loopCount) {
  SmallVector<unsigned> loops;
  ArrayRef<int64_t> shape = TensorCode::typeOf(aligned).getShape();
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1)
      loops.push_back(loopCount - shape.size() + axis);
  return loops;
}

Value ad::spreadOverLoops(TensorCode code, Value aligned, ArrayRef<unsigned> loops, LoopSizes sizes) {
  SmallVector<OpFoldResult> whole(sizes.size(), code.builder.getIndexAttr(1)), kept;
  for (unsigned loop : loops) {
    whole[loop] = sizes[loop];
    kept.push_back(sizes[loop]);
  }
  // Outer loops without an axis need none before the broadcast either.
  SmallVector<OpFoldResult> needed(whole.begin() + (loops.empty() ? sizes.size() : loops.front()),
                                   whole.end());
  size_t rank = TensorCode::typeOf(aligned).getRank();
  if (needed.size() < rank)
    needed.assign(whole.end() - rank, whole.end());
  Value spread = code.broadcast(aligned, needed);
  return needed.size() == kept.size() ? spread : code.reshape(spread, kept);
}

Value ad::iterationOf(TensorCode code, unsigned loop, LoopSizes sizes) {
  if (Value around = sizes.iterationAround(loop))
    return code.ofScalar(around);
  SmallVector<OpFoldResult> aligned(sizes.size() - loop, code.builder.getIndexAttr(1));
  aligned[0] = sizes[loop];
  return code.iota(aligned, 0);
}

//===- Reading -===//

// Axes whose index is a loop of their own stay axes of what is read.
static SmallVector<unsigned> loopsOfComputed(ArrayRef<AxisIndex> indices, unsigned loopCount) {
  SmallVector<unsigned> all;
  for (const AxisIndex &index : indices)
    if (!index.loop)
      llvm::append_range(all, loopsOf(index.computed, loopCount));
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  return all;
}

// A loop that two indices depend on is no axis of its own.
static SmallVector<AxisIndex> computeSharedLoops(TensorCode code, ArrayRef<AxisIndex> given,
                                                 LoopSizes sizes) {
  SmallVector<AxisIndex> indices(given);
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<unsigned> computed = loopsOfComputed(indices, sizes.size());
    for (AxisIndex &index : indices) {
      auto isSame = [&](const AxisIndex &other) { return other.loop == index.loop; };
      bool isShared =
          index.loop && (llvm::is_contained(computed, *index.loop) || llvm::count_if(indices, isSame) > 1);
      if (!isShared)
        continue;
      index = {std::nullopt, iterationOf(code, *index.loop, sizes)};
      changed = true;
      break;
    }
  }
  return indices;
}

Value ad::alignInAnyOrder(TensorCode code, Value tensor, ArrayRef<unsigned> loops, unsigned loopCount) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, loops.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return loops[a] < loops[b]; });
  SmallVector<unsigned> sorted(loops);
  llvm::sort(sorted);
  return alignWithLoops(code, code.transpose(tensor, order), sorted, loopCount);
}

Value ad::readAt(TensorCode code, Value tensor, ArrayRef<AxisIndex> given, LoopSizes sizes, Outside outside) {
  SmallVector<AxisIndex> indices = computeSharedLoops(code, given, sizes);
  SmallVector<unsigned> loops = loopsOfComputed(indices, sizes.size());
  SmallVector<Value> computed;
  SmallVector<int64_t> axes, slices;
  size_t computedLoops = loops.size();
  for (auto [axis, index] : llvm::enumerate(indices)) {
    if (index.loop) {
      slices.push_back(loops.size());
      loops.push_back(*index.loop);
      continue;
    }
    axes.push_back(axis);
    computed.push_back(
        spreadOverLoops(code, index.computed, ArrayRef(loops).take_front(computedLoops), sizes));
  }
  Value read = tensor;
  if (!axes.empty())
    read = GatherOp::create(code.builder, code.loc, tensor, computed, axes, ArrayRef<int64_t>(),
                            ArrayRef<int64_t>(), slices, outside, APFloat(0.0), PermissionsAttr());
  return alignInAnyOrder(code, read, loops, sizes.size());
}

static Value cutAt(TensorCode code, Value tensor, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes) {
  RankedTensorType type = typeOfSizes(sizes, TensorCode::elementOf(tensor));
  SmallVector<Value> dynamic = code.dynamicAmong(sizes);
  if (std::optional<SmallVector<int64_t>> known = getConstantIntValues(offsets)) {
    SmallVector<int64_t> strides(sizes.size(), 1);
    return SliceOp::create(code.builder, code.loc, type, tensor, *known, strides, dynamic, nullptr);
  }
  return DynamicSliceOp::create(code.builder, code.loc, type, tensor, code.indices(offsets), dynamic,
                                nullptr);
}

// What an index is at all points: a constant, or the iteration of a loop around the tensors.
static OpFoldResult sameIndex(TensorCode code, AffineExpr expr, LoopSizes sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return code.builder.getIndexAttr(constant.getValue());
  auto loop = dyn_cast<AffineDimExpr>(expr);
  return loop ? OpFoldResult(sizes.iterationAround(loop.getPosition())) : OpFoldResult();
}

// Axes of size 1 whose index is a constant are left out, and others with the same index at all points are cut
// there.
static Value dropAxes(TensorCode code, Value tensor, AffineMap map, LoopSizes loops,
                      SmallVectorImpl<AffineExpr> &left) {
  SmallVector<OpFoldResult> sizes = code.sizes(tensor), kept;
  SmallVector<OpFoldResult> offsets(sizes.size(), code.builder.getIndexAttr(0));
  bool isCut = false;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    OpFoldResult index = sameIndex(code, expr, loops);
    if (!index) {
      left.push_back(expr);
      kept.push_back(sizes[axis]);
      continue;
    }
    isCut |= !isConstantIntValue(sizes[axis], 1);
    offsets[axis] = isConstantIntValue(sizes[axis], 1) ? OpFoldResult(code.builder.getIndexAttr(0)) : index;
    sizes[axis] = code.builder.getIndexAttr(1);
  }
  if (left.size() == sizes.size())
    return tensor;
  return code.reshape(isCut ? cutAt(code, tensor, offsets, sizes) : tensor, kept);
}

Value ad::readByMap(TensorCode code, Value tensor, AffineMap map, LoopSizes sizes) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return code.ofScalar(tensor);
  SmallVector<AffineExpr> exprs;
  tensor = dropAxes(code, tensor, map, sizes, exprs);
  bool isComputed = llvm::any_of(exprs, [](AffineExpr expr) { return !isa<AffineDimExpr>(expr); });
  SmallVector<Value> iterations(sizes.size());
  for (unsigned loop = 0; isComputed && loop < sizes.size(); ++loop)
    if (llvm::any_of(
            exprs, [&](AffineExpr expr) { return expr.isFunctionOfDim(loop) && !isa<AffineDimExpr>(expr); }))
      iterations[loop] = iterationOf(code, loop, sizes);
  SmallVector<AxisIndex> indices = llvm::map_to_vector(exprs, [&](AffineExpr expr) -> AxisIndex {
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      return {loop.getPosition(), Value()};
    return {std::nullopt, evaluateExpr(code, expr, iterations)};
  });
  return readAt(code, tensor, indices, sizes);
}

Value ad::evaluateExpr(TensorCode code, AffineExpr expr, ValueRange operands) {
  if (auto dimension = dyn_cast<AffineDimExpr>(expr))
    return operands[dimension.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return integerConstant(code.builder, code.loc, code.builder.getI64Type(), constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = evaluateExpr(code, binary.getLHS(), operands),
        rhs = evaluateExpr(code, binary.getRHS(), operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return code.add(lhs, rhs);
  case AffineExprKind::Mul:
    return code.mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return floorQuotient(code, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return ceilQuotient(code, lhs, rhs);
  case AffineExprKind::Mod:
    return code.sub(lhs, code.mul(floorQuotient(code, lhs, rhs), rhs));
  default:
    llvm_unreachable("index maps have no symbols");
  }
}
