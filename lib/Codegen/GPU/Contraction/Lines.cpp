// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pieces of the operands in shared memory, for threads that multiply and add: one step of the depth after
// another, each with all lines of the tile, of which a thread reads neighbours at once.

#include "ContractionEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// What memory is asked for at once: neighbouring threads take as much along the depth, of operands that are
// contiguous there.
static constexpr int64_t kSectorBytes = 32;

// Between neighbours along the depth, in elements: by four lines more than the tile has, so that what a warp
// stores along the depth lies in different banks, and groups of four still begin where vectors may; by a
// chunk where that is what is stored.
int64_t ContractionEmitter::distanceInDepth(const Staged &part) {
  return part.lines +
         (part.alongDepth ? kLineGroup : std::max(kLineGroup, kChunkBytes / part.elementBytes()));
}

Value ContractionEmitter::elementPointer(const Staged &part, Value stage, Value line, Value within) {
  Value step = binary<arith::MulIOp>(stage, indexConstant(part.count));
  step = binary<arith::AddIOp>(step, within);
  Value index = binary<arith::MulIOp>(step, indexConstant(distanceInDepth(part)));
  index = binary<arith::AddIOp>(index, line);
  Value byte = binary<arith::MulIOp>(index, indexConstant(part.elementBytes()));
  return sharedPointer(binary<arith::AddIOp>(byte, indexConstant(part.offset)));
}

// The place in the piece of the element with a number, of which neighbours lie side by side in memory.
std::pair<Value, Value> ContractionEmitter::lineAndDepth(const Staged &part, Value number) {
  if (!part.alongDepth) {
    auto [within, line] = divide(number, indexConstant(part.lines));
    return {line, within};
  }
  Value together = indexConstant(std::min(part.count, kSectorBytes / part.elementBytes()));
  auto [rest, low] = divide(number, together);
  auto [high, line] = divide(rest, indexConstant(part.lines));
  return {line, binary<arith::AddIOp>(low, binary<arith::MulIOp>(high, together))};
}

void ContractionEmitter::bringChunks(const Staged &part, const Place &place, Value depth, Value stage) {
  bool rows = part.lineLoop == contraction.rowLoop;
  int64_t inChunk = kChunkBytes / part.elementBytes(), perStep = part.lines / inChunk;
  (void)shareAmongThreads(perStep * part.count, [&](Value number) {
    auto [within, chunk] = divide(number, indexConstant(perStep));
    Value line = binary<arith::MulIOp>(chunk, indexConstant(inChunk));
    Value index = binary<arith::AddIOp>(rows ? place.row : place.column, line);
    copyAsync(part, place, index, binary<arith::AddIOp>(depth, within),
              elementPointer(part, stage, line, within), kChunkBytes);
    return success();
  });
}

// Asynchronous copies have four bytes at least, and take what lies in memory. Nothing uses what lies outside
// of the operand.
LogicalResult ContractionEmitter::bringElements(const Staged &part, const Place &place, Value depth,
                                                Value stage) {
  bool rows = part.lineLoop == contraction.rowLoop;
  bool copies = buffers.count(part.operand->get()) && part.elementBytes() >= 4;
  return shareAmongThreads(part.lines * part.count, [&](Value number) -> LogicalResult {
    auto [line, within] = lineAndDepth(part, number);
    Value index = binary<arith::AddIOp>(rows ? place.row : place.column, line);
    Value deep = binary<arith::AddIOp>(depth, within), target = elementPointer(part, stage, line, within);
    if (copies) {
      copyAsync(part, place, index, deep, target, part.elementBytes());
      return success();
    }
    FailureOr<Value> value = nearestElement(part, place, index, deep);
    if (failed(value))
      return failure();
    LLVM::StoreOp::create(builder, loc, memoryAccess.toMemory(*value), target);
    return success();
  });
}

LogicalResult ContractionEmitter::bringLines(const Staged &part, const Place &place, Value depth,
                                             Value stage) {
  auto elements = [&] { return bringElements(part, place, depth, stage); };
  if (!part.whole || part.alongDepth)
    return elements();
  auto chunks = [&] {
    bringChunks(part, place, depth, stage);
    return success();
  };
  return emitIfAllowed(part.aligned, chunks, elements);
}

LogicalResult ContractionEmitter::bringPiece(const Place &place, Value depth, Value stage) {
  for (const Staged &part : staged)
    if (failed(bringLines(part, place, depth, stage)))
      return failure();
  return success();
}
