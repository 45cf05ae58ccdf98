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
std::pair<Value, Value> PaddedStaging::elementInTile(const StagedOperand &part, Value number) {
  if (!part.kMajor) {
    auto [step, index] = divide(number, indexConstant(part.extent));
    return {index, step};
  }
  Value perSector = indexConstant(std::min(part.k, kSectorBytes / part.elementBytes()));
  auto [rest, low] = divide(number, perSector);
  auto [high, index] = divide(rest, indexConstant(part.extent));
  return {index, binary<arith::AddIOp>(low, binary<arith::MulIOp>(high, perSector))};
}

void PaddedStaging::copyChunks(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage) {
  int64_t inChunk = part.chunkElements(), perStep = part.extent / inChunk;
  (void)staging.distribute(perStep * part.k, [&](Value number) {
    auto [step, chunk] = divide(number, indexConstant(perStep));
    Value first = binary<arith::MulIOp>(chunk, indexConstant(inChunk));
    Value index = binary<arith::AddIOp>(part.start(origin), first);
    staging.asyncCopy(part, origin, index, binary<arith::AddIOp>(k, step),
                      pointerAt(part, stage, first, step), kChunkBytes);
    return success();
  });
}

// `cp.async` copies 4 bytes at least, and only from memory. Elements outside of the operand are not used.
LogicalResult PaddedStaging::copyElements(const StagedOperand &part, const TileOrigin &origin, Value k,
                                          Value stage) {
  bool copies = buffers.count(part.operand->get()) && part.elementBytes() >= kMinCopyBytes;
  return staging.distribute(part.extent * part.k, [&](Value number) -> LogicalResult {
    auto [inTile, step] = elementInTile(part, number);
    Value index = binary<arith::AddIOp>(part.start(origin), inTile);
    Value kIndex = binary<arith::AddIOp>(k, step), target = pointerAt(part, stage, inTile, step);
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
  if (!part.hasChunks || part.kMajor)
    return elements();
  auto chunks = [&] {
    copyChunks(part, origin, k, stage);
    return success();
  };
  return emitIfAllowed(part.aligned, chunks, elements);
}

LogicalResult PaddedStaging::loadKTile(const TileOrigin &origin, Value k, Value stage) {
  for (const StagedOperand &part : staging.operands)
    if (failed(loadOperand(part, origin, k, stage)))
      return failure();
  return success();
}
