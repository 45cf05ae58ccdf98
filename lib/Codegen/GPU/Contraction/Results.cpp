// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From sums in shared memory to results: threads take runs of neighbours in a row, compute what the kernel
// makes of them, and store them by 16 bytes at once where rows have whole runs.

#include "ContractionEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Type ContractionEmitter::sumType() {
  linalg::GenericOp op = contraction.op;
  return getElementTypeOrSelf(op.getResult(0).getType());
}

// Rows follow each other without gaps, and chunks of 16 bytes change places in them, so that all that a warp
// moves at once lies in different banks: pairs of sums in four or eight rows, single ones in two, and one,
// two or four chunks to a thread. Four rows have four permutations of eight chunks; every eight chunks have
// one more.
Value ContractionEmitter::sumPointer(const Sums &sums, Value row, Value column) {
  int64_t bytes = memoryBytes(sumType()), inChunk = kChunkBytes / bytes;
  Value one = indexConstant(1), three = indexConstant(3);
  Value odd = binary<arith::AndIOp>(row, one);
  Value second = binary<arith::AndIOp>(binary<arith::ShRUIOp>(row, one), one);
  Value turn = binary<arith::XOrIOp>(binary<arith::MulIOp>(odd, indexConstant(7)),
                                     binary<arith::MulIOp>(second, indexConstant(5)));
  Value chunk = binary<arith::DivUIOp>(column, indexConstant(inChunk));
  Value eights = binary<arith::AndIOp>(binary<arith::ShRUIOp>(chunk, three), three);
  Value place = binary<arith::XOrIOp>(chunk, binary<arith::XOrIOp>(turn, eights));
  Value within = binary<arith::RemUIOp>(column, indexConstant(inChunk));
  Value byte = binary<arith::AddIOp>(sums.offset, binary<arith::MulIOp>(within, indexConstant(bytes)));
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(row, indexConstant(sums.columns * bytes)));
  return sharedPointer(binary<arith::AddIOp>(byte, binary<arith::MulIOp>(place, indexConstant(kChunkBytes))));
}

// As many as a chunk has at most, beginning at a multiple of their number.
void ContractionEmitter::storeNeighbours(const Sums &sums, Value row, Value column, ValueRange values) {
  auto count = static_cast<int64_t>(values.size());
  Value vector = LLVM::UndefOp::create(builder, loc, VectorType::get(count, sumType()));
  for (auto [number, sum] : llvm::enumerate(values)) {
    Value at = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), number);
    vector = LLVM::InsertElementOp::create(builder, loc, vector, sum, at);
  }
  LLVM::StoreOp::create(builder, loc, vector, sumPointer(sums, row, column), count * memoryBytes(sumType()));
}

void ContractionEmitter::storePair(const Sums &sums, Value row, Value column, Value left, Value right) {
  storeNeighbours(sums, row, column, {left, right});
}

SmallVector<Value> ContractionEmitter::loadSums(const Sums &sums, Value row, Value column, int64_t count) {
  int64_t bytes = memoryBytes(sumType()), piece = std::min(count, kChunkBytes / bytes);
  SmallVector<Value> loaded;
  for (int64_t first = 0; first < count; first += piece) {
    Value pointer = sumPointer(sums, row, binary<arith::AddIOp>(column, indexConstant(first)));
    Value vector =
        LLVM::LoadOp::create(builder, loc, VectorType::get(piece, sumType()), pointer, piece * bytes);
    for (int64_t i = 0; i < piece; ++i) {
      Value at = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      loaded.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, at));
    }
  }
  return loaded;
}

// The widest result decides: its runs are 16 bytes.
int64_t ContractionEmitter::resultRun() {
  int64_t widest = 1, size = results.front().shape.back();
  for (const Buffer &result : results)
    widest = std::max(widest, memoryBytes(result.element));
  int64_t length = kAccessBytes / widest;
  while (!ShapedType::isDynamic(size) && size % length != 0)
    length /= 2;
  return length;
}

LogicalResult ContractionEmitter::emitResults(const Place &place, const Sums &sums) {
  int64_t length = resultRun();
  auto runs = [&] { return emitRuns(place, sums, length); };
  if (length == 1 || !ShapedType::isDynamic(results.front().shape.back()))
    return runs();
  Value rest = binary<arith::RemUIOp>(columnCount, indexConstant(length));
  return emitIf(isEqual(rest, 0), runs, [&] { return emitRuns(place, sums, 1); });
}

Value ContractionEmitter::rowInTile(const Sums &sums, Value row) {
  if (sums.groupRows == sums.rows)
    return row;
  Value group = binary<arith::DivUIOp>(row, indexConstant(sums.groupRows));
  Value between = indexConstant(sums.groupDistance - sums.groupRows);
  return binary<arith::AddIOp>(row, binary<arith::MulIOp>(group, between));
}

// Neighbouring threads take neighbouring runs of a row, and stay in their columns.
LogicalResult ContractionEmitter::emitRuns(const Place &place, const Sums &sums, int64_t length) {
  linalg::GenericOp op = contraction.op;
  Value width = indexConstant(sums.columns / length);
  assert(sums.threads % (sums.columns / length) == 0 && "a row is shared by some of the threads");
  Value inColumn = binary<arith::MulIOp>(binary<arith::RemUIOp>(sums.thread, width), indexConstant(length));
  Value column = binary<arith::AddIOp>(binary<arith::AddIOp>(place.column, sums.column), inColumn);
  Value first = binary<arith::DivUIOp>(sums.thread, width);
  Value together = indexConstant(sums.threads / (sums.columns / length));
  return emitLoop(first, indexConstant(sums.rows), together, [&](Value inRow) {
    Value row = binary<arith::AddIOp>(binary<arith::AddIOp>(place.row, sums.row), rowInTile(sums, inRow));
    Value inside = binary<arith::AndIOp>(isBelow(row, rowCount), isBelow(column, columnCount));
    return emitIf(inside, [&] {
      PerThread perThread(mapping);
      SmallVector<Position> positions;
      for (Value index : vectorized.consecutiveIndices(column, length))
        positions.push_back(positionAt(place, row, index));
      for (auto [position, sum] : llvm::zip_equal(positions, loadSums(sums, inRow, inColumn, length)))
        evaluator.remember(op.getResult(0), position, sum);
      return outputs.storeRoots(kernel.getBody().front().getTerminator()->getOperands(), results, positions);
    });
  });
}
