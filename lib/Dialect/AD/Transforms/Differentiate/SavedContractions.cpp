// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which contractions of a loop leave their results on a tape, so that the reverse loop does not compute them
// again. A saved element is written and read once; to compute it again takes as many products as the
// contraction is long.

#include "Loops.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::ad;

// An estimate: with fewer products, an element is computed about as fast as it is written and read.
static constexpr int64_t kMinLength = 8;

// How many elements of the result may stem from each element of the smaller operand, for each product that
// is saved. With more the tape would be larger than all that the loop reads, as that of a product of queries
// and keys.
static constexpr int64_t kMaxGrowth = 4;

// The number of points of loops; dynamic if one of them is.
static int64_t product(int64_t a, int64_t b) {
  int64_t result;
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || llvm::MulOverflow(a, b, result)
             ? ShapedType::kDynamic
             : result;
}

// The sizes of the loops; those of no operand are dynamic.
static SmallVector<int64_t> loopSizes(ArrayRef<AffineMap> maps, ArrayRef<RankedTensorType> types) {
  SmallVector<int64_t> sizes(maps.front().getNumDims(), ShapedType::kDynamic);
  for (auto [map, type] : llvm::zip(maps, types))
    for (auto [expression, size] : llvm::zip(map.getResults(), type.getShape()))
      if (auto loop = dyn_cast<AffineDimExpr>(expression); loop && !ShapedType::isDynamic(size))
        sizes[loop.getPosition()] = size;
  return sizes;
}

// The number of elements of the result that each element of the operand contributes to.
static int64_t contributions(AffineMap operand, AffineMap result, ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (result.isFunctionOfDim(loop) && !operand.isFunctionOfDim(loop))
      count = product(count, size);
  return count;
}

static bool isWorthSaving(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  if (!fusable || !isContractionOp(op) || op->getNumResults() != 1)
    return false;
  SmallVector<AffineMap> maps = fusable.getAccessMaps();
  SmallVector<RankedTensorType> types;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      types.push_back(type);
  if (maps.size() != types.size() || maps.size() < 3 || llvm::is_contained(maps, AffineMap()))
    return false;
  SmallVector<int64_t> sizes = loopSizes(maps, types);
  int64_t length = 1;
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (!maps.back().isFunctionOfDim(loop))
      length = product(length, size);
  if (ShapedType::isDynamic(length))
    return false;
  return length >= kMinLength && llvm::any_of(ArrayRef(maps).take_front(2), [&](AffineMap operand) {
           int64_t count = contributions(operand, maps.back(), sizes);
           return !ShapedType::isDynamic(count) && count <= kMaxGrowth * length;
         });
}

// The value with the size in front of the loop; null if the size may not be known there. Carries have the
// same sizes in all iterations.
static Value visibleBefore(scf::ForOp loop, Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar()
             ? loop.getInitArgs()[argument.getArgNumber() - 1]
             : Value();
}

std::optional<Saved> ad::savedContraction(scf::ForOp loop, Operation *op, OpBuilder &before) {
  bool isInvariant =
      llvm::all_of(op->getOperands(), [&](Value operand) { return loop.isDefinedOutsideOfLoop(operand); });
  if (isInvariant || !isWorthSaving(op))
    return std::nullopt;
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  if (!canBeSaved(type))
    return std::nullopt;
  SmallVector<SizeOrigin> origins;
  SizeAnalysis analysis;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    SizeOrigin origin = analysis.originOfSize(result, axis);
    if (origin.value && !(origin.value = visibleBefore(loop, origin.value)))
      return std::nullopt;
    origins.push_back(origin);
  }
  auto sizes = llvm::map_to_vector(
      origins, [&](const SizeOrigin &origin) { return materializeSize(before, loop.getLoc(), origin); });
  return Saved{result, sizes};
}
