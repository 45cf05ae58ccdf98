// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PaddedStaging.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// The distance in elements between consecutive steps of K in shared memory. Each step is padded, so that
// stores along K hit different banks. The padding is one vector, so that vectors stay aligned. If `cp.async`
// may store 16-byte chunks, the padding is at least one chunk.
int64_t PaddedStaging::kStride(const StagedOperand &part) {
  return part.extent + (part.kMajor ? kSimtVector : std::max(kSimtVector, part.chunkElements()));
}

Value PaddedStaging::pointerAt(const StagedOperand &part, Value stage, Value index, Value step) {
  Value row = binary<arith::MulIOp>(stage, indexConstant(part.k));
  row = binary<arith::AddIOp>(row, step);
  Value element = binary<arith::MulIOp>(row, indexConstant(kStride(part)));
  element = binary<arith::AddIOp>(element, index);
  Value byte = binary<arith::MulIOp>(element, indexConstant(part.elementBytes()));
  return sharedPointer(binary<arith::AddIOp>(byte, indexConstant(part.offset)));
}

// The index in M or N and in K of the element with a number. Consecutive numbers are contiguous in memory:
// along K, for a sector of an operand that is contiguous there.
std::pair<LoadNumber, LoadNumber> PaddedStaging::elementInTile(const StagedOperand &part, LoadNumber number) {
  if (!part.kMajor) {
    auto [step, index] = staging.divideNumber(number, part.extent);
    return {index, step};
  }
  int64_t perSector = std::min(part.k, kSectorBytes / part.elementBytes());
  auto [rest, low] = staging.divideNumber(number, perSector);
  auto [high, index] = staging.divideNumber(rest, part.extent);
  Value base = binary<arith::MulIOp>(high.base, indexConstant(perSector));
  return {index, {binary<arith::AddIOp>(low.base, base), 0, low.constant + high.constant * perSector}};
}

// In the widest copies that rows in global memory are aligned to.
void PaddedStaging::copyPieces(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage) {
  int64_t inPiece = part.copyBytes / part.elementBytes(), perStep = part.extent / inPiece;
  (void)staging.distribute(perStep * part.k, [&](LoadNumber number) {
    auto [step, piece] = staging.divideNumber(number, perStep);
    LoadNumber first{binary<arith::MulIOp>(piece.base, indexConstant(inPiece)), 0, piece.constant * inPiece};
    staging.asyncCopy(part, origin, staging.sum(part.start(origin), first), staging.sum(k, step),
                      pointerAt(part, stage, staging.sum(Value(), first), staging.sum(Value(), step)),
                      part.copyBytes);
    return success();
  });
}

// `cp.async` copies 4 bytes at least, and only from memory. Elements outside of the operand are not used.
LogicalResult PaddedStaging::copyElements(const StagedOperand &part, const TileOrigin &origin, Value k,
                                          Value stage) {
  bool copies = buffers.count(part.operand->get()) && part.elementBytes() >= kMinCopyBytes;
  return staging.distribute(part.extent * part.k, [&](LoadNumber number) -> LogicalResult {
    auto [inTile, step] = elementInTile(part, number);
    Value index = staging.sum(part.start(origin), inTile), kIndex = staging.sum(k, step);
    Value target = pointerAt(part, stage, staging.sum(Value(), inTile), staging.sum(Value(), step));
    if (copies) {
      staging.asyncCopy(part, origin, index, kIndex, target, part.elementBytes());
      return success();
    }
    FailureOr<Value> value = staging.loadClamped(part, origin, index, kIndex);
    if (failed(value))
      return failure();
    LLVM::StoreOp::create(builder, loc, toMemory(*value), target);
    return success();
  });
}

LogicalResult PaddedStaging::loadOperand(const StagedOperand &part, const TileOrigin &origin, Value k,
                                         Value stage) {
  auto elements = [&] { return copyElements(part, origin, k, stage); };
  if (part.copyBytes <= part.elementBytes() || part.kMajor)
    return elements();
  auto pieces = [&] {
    copyPieces(part, origin, k, stage);
    return success();
  };
  return emitIfAllowed(part.aligned, pieces, elements);
}

LogicalResult PaddedStaging::loadKTile(const TileOrigin &origin, Value k, Value stage) {
  for (const StagedOperand &part : staging.operands)
    if (failed(loadOperand(part, origin, k, stage)))
      return failure();
  return success();
}
