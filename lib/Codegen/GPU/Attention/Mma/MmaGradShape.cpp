// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaGradShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Warps that share what passes by.
static constexpr int64_t kMostWarps = 8, kFewWarps = 4;

std::optional<MmaGradShape> MmaGradShape::find(const AttentionShape &attention) {
  if (!MmaShape::hasType(attention) || !MmaShape::fitsRow(attention.depth) ||
      !MmaShape::fitsRow(attention.width))
    return std::nullopt;
  MmaGradShape shape;
  shape.depth = attention.depth;
  shape.width = attention.width;
  int64_t rows = attention.rowsOfBlock();
  std::optional<int64_t> keys = attention.mostKeysOfChunk();
  shape.warps = kMostWarps;
  if (!ShapedType::isDynamic(rows) && keys)
    shape.warps = std::clamp<int64_t>(llvm::divideCeil(std::max(rows, *keys), MmaShape::kM), 1, kMostWarps);
  // Small tiles where large ones would leave multiprocessors without any.
  auto tiles = [&] { return attention.tileCount(shape.rows()).value_or(kDefaultSMCount); };
  while (shape.warps > kFewWarps && tiles() < kDefaultSMCount)
    shape.warps /= 2;
  return shape;
}
