// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The loops and accesses of reductions, contractions and views, and which views are free
// (FusableOpInterface).

#include "Reduction.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"

using namespace mlir;
using namespace mlir::ad;

using Iterators = SmallVector<utils::IteratorType>;
using Maps = SmallVector<AffineMap>;

static constexpr auto kParallel = utils::IteratorType::parallel;
static constexpr auto kReduction = utils::IteratorType::reduction;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===- Reductions -===//

Iterators ad::iteratorsOfReduction(int64_t rank, ArrayRef<int64_t> axes) {
  Iterators iterators(rank - axes.size(), kParallel);
  iterators.append(axes.size(), kReduction);
  return iterators;
}

Maps ad::accessesOfReduction(MLIRContext *context, int64_t rank, ArrayRef<int64_t> axes, bool keepDims) {
  SmallVector<AffineExpr> in, out;
  unsigned kept = 0, reduced = rank - axes.size();
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (llvm::is_contained(axes, axis)) {
      in.push_back(getAffineDimExpr(reduced++, context));
      if (keepDims)
        out.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    in.push_back(getAffineDimExpr(kept++, context));
    out.push_back(in.back());
  }
  return {AffineMap::get(rank, 0, in, context), AffineMap::get(rank, 0, out, context)};
}

//===- Contractions -===//

// The loops of a dot are those of the result (batch, free axes of lhs, free axes of rhs), then the contracted
// axes in the listed order.
static Maps accessesOfDot(DotOp op, Iterators &iterators) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> lhsMap(typeOf(op.getLhs()).getRank()), rhsMap(typeOf(op.getRhs()).getRank()),
      outMap;
  auto loop = [&](utils::IteratorType kind) {
    iterators.push_back(kind);
    return getAffineDimExpr(iterators.size() - 1, context);
  };
  auto parallel = [&](AffineExpr &slot) {
    slot = loop(kParallel);
    outMap.push_back(slot);
  };
  for (auto [l, r] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    parallel(lhsMap[l]);
    rhsMap[r] = lhsMap[l];
  }
  auto free = [&](SmallVectorImpl<AffineExpr> &map, ArrayRef<int64_t> contracted) {
    for (int64_t i = 0, e = map.size(); i < e; ++i)
      if (!map[i] && !llvm::is_contained(contracted, i))
        parallel(map[i]);
  };
  free(lhsMap, op.getLhsContract());
  free(rhsMap, op.getRhsContract());
  for (auto [l, r] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
    lhsMap[l] = rhsMap[r] = loop(kReduction);
  unsigned loops = iterators.size();
  return {AffineMap::get(loops, 0, lhsMap, context), AffineMap::get(loops, 0, rhsMap, context),
          AffineMap::get(loops, 0, outMap, context)};
}

Iterators DotOp::getIteratorTypes() {
  Iterators iterators;
  accessesOfDot(*this, iterators);
  return iterators;
}

Maps DotOp::getAccessMaps() {
  Iterators iterators;
  return accessesOfDot(*this, iterators);
}

Iterators GemmOp::getIteratorTypes() { return {kParallel, kParallel, kReduction}; }

Maps GemmOp::getAccessMaps() {
  MLIRContext *context = getContext();
  AffineExpr m = getAffineDimExpr(0, context), n = getAffineDimExpr(1, context),
             k = getAffineDimExpr(2, context);
  auto matrix = [&](AffineExpr row, AffineExpr column, bool transposed) {
    return transposed ? AffineMap::get(3, 0, {column, row}, context)
                      : AffineMap::get(3, 0, {row, column}, context);
  };
  Maps maps = {matrix(m, k, getTransA()), matrix(k, n, getTransB())};
  if (Value bias = getBias()) {
    RankedTensorType type = typeOf(bias);
    SmallVector<AffineExpr> access;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      access.push_back(type.getDimSize(axis) == 1 ? getAffineConstantExpr(0, context)
                                                  : getAffineDimExpr(2 - type.getRank() + axis, context));
    maps.push_back(AffineMap::get(3, 0, access, context));
  }
  maps.push_back(matrix(m, n, false));
  return maps;
}

//===- Views -===//

static Iterators parallelLoops(Value result) { return Iterators(typeOf(result).getRank(), kParallel); }

// An element of the input for each element of the result; a null map where none is known.
static Maps readBy(AffineMap access, Value result) {
  return {access, AffineMap::getMultiDimIdentityMap(typeOf(result).getRank(), result.getContext())};
}

static bool hasElementsAndStaticShape(RankedTensorType type) {
  return type.hasStaticShape() && type.getRank() > 0 && type.getNumElements() > 0;
}

Iterators BroadcastOp::getIteratorTypes() { return parallelLoops(getResult()); }

// Equal sizes read straight, size 1 reads element 0; a dynamic size may be either.
Maps BroadcastOp::getAccessMaps() {
  RankedTensorType from = getInput().getType(), to = getType();
  int64_t leading = to.getRank() - from.getRank();
  SmallVector<AffineExpr> access;
  for (int64_t axis = 0; axis < from.getRank(); ++axis) {
    if (from.isDynamicDim(axis) && !(*this)->hasAttr(kSameSizesAttr))
      return readBy({}, getResult());
    access.push_back(from.getDimSize(axis) == 1 ? getAffineConstantExpr(0, getContext())
                                                : getAffineDimExpr(leading + axis, getContext()));
  }
  return readBy(AffineMap::get(to.getRank(), 0, access, getContext()), getResult());
}

bool BroadcastOp::isFreeView() {
  RankedTensorType from = getInput().getType(), to = getType();
  int64_t leading = to.getRank() - from.getRank();
  return (*this)->hasAttr(kSameSizesAttr) ||
         llvm::all_of(llvm::seq<int64_t>(0, from.getRank()), [&](int64_t axis) {
           int64_t size = from.getDimSize(axis);
           return size == 1 || (!ShapedType::isDynamic(size) && size == to.getDimSize(leading + axis));
         });
}

Iterators ReshapeOp::getIteratorTypes() { return parallelLoops(getResult()); }

// Where static shapes differ in axes of size 1 only, the long axes keep their order.
Maps ReshapeOp::getAccessMaps() {
  RankedTensorType from = getInput().getType(), to = getType();
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return readBy({}, getResult());
  SmallVector<AffineExpr> access;
  int64_t axis = 0;
  for (int64_t size : from.getShape()) {
    if (size == 1) {
      access.push_back(getAffineConstantExpr(0, getContext()));
      continue;
    }
    while (axis < to.getRank() && to.getDimSize(axis) == 1)
      ++axis;
    if (axis == to.getRank() || to.getDimSize(axis) != size)
      return readBy({}, getResult());
    access.push_back(getAffineDimExpr(axis++, getContext()));
  }
  return readBy(AffineMap::get(to.getRank(), 0, access, getContext()), getResult());
}

bool ReshapeOp::isFreeView() {
  RankedTensorType from = getInput().getType(), to = getType();
  auto longAxes = [](RankedTensorType type) {
    return llvm::filter_to_vector(type.getShape(), [](int64_t size) { return size != 1; });
  };
  return from.hasStaticShape() && to.hasStaticShape() && longAxes(from) == longAxes(to);
}

Iterators TransposeOp::getIteratorTypes() { return parallelLoops(getResult()); }

// Axis i of the result is axis p[i] of the input, so axis p[i] of the input reads loop i.
Maps TransposeOp::getAccessMaps() {
  SmallVector<AffineExpr> access(getPermutation().size());
  for (auto [i, p] : llvm::enumerate(getPermutation()))
    access[p] = getAffineDimExpr(i, getContext());
  return readBy(AffineMap::get(access.size(), 0, access, getContext()), getResult());
}

bool TransposeOp::isFreeView() { return getType().hasStaticShape(); }

bool SliceOp::isFreeView() { return hasElementsAndStaticShape(getType()) && getStrides().back() == 1; }

bool DynamicSliceOp::isFreeView() { return hasElementsAndStaticShape(getType()); }
