// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How many products of a contraction one chain of tensor cores sums (decision 0050).

#include "TensorCores.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Interfaces/FusableOpInterface.h"

using namespace mlir;
using namespace mlir::ad;

// The side of a small tile of a thread block, how many of them occupy the multiprocessors of a large GPU, and
// how many run there at the same time.
static constexpr int64_t kTileSide = 64, kBusyTiles = 128, kTilesAtOnce = 256;
// Fewer products than this, saved by a split, take less time than the kernel that joins the parts.
static constexpr int64_t kMinSavedProducts = 1024;
// A dynamic K counts as the tokens of a usual batch.
static constexpr int64_t kUsualK = 8192;

namespace {
/// The sizes of a contraction, over all of its axes of a kind.
struct Sizes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t tiles() const { return batch * llvm::divideCeil(m, kTileSide) * llvm::divideCeil(n, kTileSide); }
};
} // namespace

// None if an axis of the result is dynamic.
static std::optional<Sizes> sizesOf(Operation *contraction) {
  SmallVector<AffineMap> maps = cast<FusableOpInterface>(contraction).getAccessMaps();
  AffineMap left = maps[0], right = maps[1], result = maps.back();
  Sizes sizes;
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  for (auto [axis, size] : llvm::zip_equal(result.getResults(), shapeOf(contraction->getResult(0)))) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    unsigned loop = cast<AffineDimExpr>(axis).getPosition();
    bool inLeft = left.isFunctionOfDim(loop), inRight = right.isFunctionOfDim(loop);
    (inLeft && inRight ? sizes.batch : inLeft ? sizes.m : sizes.n) *= size;
  }
  for (auto [axis, size] : llvm::zip_equal(left.getResults(), shapeOf(contraction->getOperand(0))))
    if (!result.isFunctionOfDim(cast<AffineDimExpr>(axis).getPosition()))
      sizes.k = ShapedType::isDynamic(size) || ShapedType::isDynamic(sizes.k) ? ShapedType::kDynamic
                                                                              : sizes.k * size;
  return sizes;
}

int64_t ad::chainOnTensorCores(Operation *contraction) {
  std::optional<Sizes> sizes = sizesOf(contraction);
  if (!sizes || sizes->tiles() == 0 || sizes->tiles() >= kBusyTiles)
    return 0;
  int64_t k = ShapedType::isDynamic(sizes->k) ? kUsualK : sizes->k;
  int64_t parts = llvm::divideCeil(kTilesAtOnce, sizes->tiles());
  int64_t chain =
      InstructionAttr::kChainUnit *
      llvm::PowerOf2Ceil(llvm::divideCeil(llvm::divideCeil(k, InstructionAttr::kChainUnit), parts));
  return k - chain >= kMinSavedProducts ? chain : 0;
}
