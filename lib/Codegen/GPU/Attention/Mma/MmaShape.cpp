// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Warps that share the staged keys.
static constexpr int64_t kMostWarps = 8, kFewWarps = 4;

std::optional<MmaShape> MmaShape::find(const AttentionShape &attention) {
  if (!hasType(attention) || !attention.hasChunksUpTo(kAttentionKeys) || *attention.mostKeysOfChunk() == 0 ||
      !fitsRow(attention.depth) || !fitsRow(attention.width))
    return std::nullopt;
  MmaShape shape;
  shape.depth = attention.depth;
  shape.width = attention.width;
  int64_t rows = attention.rowsOfBlock();
  shape.warps = ShapedType::isDynamic(rows) ? kMostWarps
                                            : std::clamp<int64_t>(llvm::divideCeil(rows, kM), 1, kMostWarps);
  // Small tiles where large ones would leave multiprocessors without any.
  auto tiles = [&] { return attention.tileCount(shape.rows()).value_or(kDefaultSMCount); };
  while (shape.warps > kFewWarps && tiles() < kDefaultSMCount)
    shape.warps /= 2;
  shape.keyTiles = llvm::divideCeil(*attention.mostKeysOfChunk(), kKeys);
  return shape;
}

LaunchShape MmaShape::launch() const {
  LaunchShape shape = {MappingLevel::block, /*result=*/0, /*axes=*/3};
  shape.tile = {rows()};
  shape.threadsPerBlock = threads();
  shape.dynamicSharedBytes = sharedBytes();
  return shape;
}
