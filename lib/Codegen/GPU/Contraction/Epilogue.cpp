// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Epilogue.h"
#include "../Generic/SharedMemory.h"
#include "ContractionEmitter.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Rows that a thread loads operands of the fusion for at once, after all accumulators have left the registers
// and before; shorter vectors than of so many elements are too many to be unrolled.
static constexpr int64_t kRowsOfManyRegisters = 4, kRowsOfFewRegisters = 2, kMinVector = 4;

Epilogue::OwnThread::OwnThread(Epilogue &epilogue)
    : mapping(epilogue.mapping), thread(mapping.threadInBlock), lane(mapping.lane) {
  mapping.threadInBlock = epilogue.hiddenCopy(thread);
  mapping.lane = epilogue.binary<arith::RemUIOp>(mapping.threadInBlock, epilogue.indexConstant(kWarpThreads));
}

Epilogue::OwnThread::~OwnThread() {
  mapping.threadInBlock = thread;
  mapping.lane = lane;
}

int64_t Epilogue::rowsPerPass() {
  if (tile.loadsByTma) {
    assert(tile.m * rowBytes() <= tile.stages * (tile.m + tile.n) * tile.k * memoryBytes(operandType()) &&
           "the stages have memory for all accumulators");
    return tile.m;
  }
  int64_t rows = contraction.instruction == MathInstruction::MmaSync ? tile.m / tile.warpsM : tile.m;
  while (rows * rowBytes() > kStaticSharedBytes)
    rows /= 2;
  return rows;
}

StagedAccumulators Epilogue::stagedByBlock(int64_t firstRow, int64_t rows) {
  Value zero = indexConstant(0);
  return {indexConstant(firstRow), zero, rows, tile.n, zero, mapping.threadInBlock, tile.threads};
}

// XOR swizzle of 16-byte chunks within a row, free of bank conflicts for each access of a warp: pairs of
// accumulators in four or eight rows, single ones in two, and one, two or four chunks per thread. Four rows
// have four permutations of eight chunks, and every eight chunks have one more. Narrow rows have fewer
// chunks, and as many permutations.
Value Epilogue::pointerAt(const StagedAccumulators &staged, Value row, Value column) {
  int64_t bytes = memoryBytes(accumulatorType()), inChunk = kChunkBytes / bytes;
  Value one = indexConstant(1), three = indexConstant(3);
  Value odd = binary<arith::AndIOp>(row, one);
  Value second = binary<arith::AndIOp>(binary<arith::ShRUIOp>(row, one), one);
  Value phase = binary<arith::XOrIOp>(binary<arith::MulIOp>(odd, indexConstant(7)),
                                      binary<arith::MulIOp>(second, indexConstant(5)));
  if (int64_t chunks = staged.columns / inChunk; chunks < 8)
    phase = binary<arith::AndIOp>(phase, indexConstant(chunks - 1));
  Value chunk = binary<arith::DivUIOp>(column, indexConstant(inChunk));
  Value eights = binary<arith::AndIOp>(binary<arith::ShRUIOp>(chunk, three), three);
  Value swizzled = binary<arith::XOrIOp>(chunk, binary<arith::XOrIOp>(phase, eights));
  Value inside = binary<arith::RemUIOp>(column, indexConstant(inChunk));
  Value byte = binary<arith::AddIOp>(staged.offset, binary<arith::MulIOp>(inside, indexConstant(bytes)));
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(row, indexConstant(staged.columns * bytes)));
  return sharedPointer(
      binary<arith::AddIOp>(byte, binary<arith::MulIOp>(swizzled, indexConstant(kChunkBytes))));
}

void Epilogue::stage(const StagedAccumulators &staged, Value row, Value column, ValueRange values) {
  auto count = static_cast<int64_t>(values.size());
  Value vector = LLVM::UndefOp::create(builder, loc, VectorType::get(count, accumulatorType()));
  for (auto [number, value] : llvm::enumerate(values)) {
    Value at = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), number);
    vector = LLVM::InsertElementOp::create(builder, loc, vector, value, at);
  }
  LLVM::StoreOp::create(builder, loc, vector, pointerAt(staged, row, column),
                        count * memoryBytes(accumulatorType()));
}

SmallVector<Value> Epilogue::load(const StagedAccumulators &staged, Value row, Value column, int64_t count) {
  int64_t bytes = memoryBytes(accumulatorType()), width = std::min(count, kChunkBytes / bytes);
  SmallVector<Value> loaded;
  for (int64_t first = 0; first < count; first += width) {
    Value pointer = pointerAt(staged, row, binary<arith::AddIOp>(column, indexConstant(first)));
    Value vector =
        LLVM::LoadOp::create(builder, loc, VectorType::get(width, accumulatorType()), pointer, width * bytes);
    for (int64_t i = 0; i < width; ++i) {
      Value at = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      loaded.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, at));
    }
  }
  return loaded;
}

// Vectors of the widest result have 16 bytes.
int64_t Epilogue::vectorLength() {
  int64_t widest = 1, size = results.front().shape.back();
  for (const Buffer &result : results)
    widest = std::max(widest, memoryBytes(result.element));
  int64_t length = kAccessBytes / widest;
  while (!ShapedType::isDynamic(size) && size % length != 0)
    length /= 2;
  return length;
}

LogicalResult Epilogue::emit(const TileOrigin &origin, const StagedAccumulators &staged) {
  int64_t length = vectorLength();
  auto vectors = [&] { return emitVectors(origin, staged, length); };
  if (length == 1 || !ShapedType::isDynamic(results.front().shape.back()))
    return vectors();
  Value rest = binary<arith::RemUIOp>(tileMapping.sizeN(), indexConstant(length));
  return emitIf(isEqual(rest, 0), vectors, [&] { return emitVectors(origin, staged, 1); });
}

Value Epilogue::rowInTile(const StagedAccumulators &staged, Value row) {
  if (staged.groupRows == staged.rows)
    return row;
  Value group = binary<arith::DivUIOp>(row, indexConstant(staged.groupRows));
  Value gap = indexConstant(staged.groupStride - staged.groupRows);
  return binary<arith::AddIOp>(row, binary<arith::MulIOp>(group, gap));
}

LogicalResult Epilogue::storeElements(ArrayRef<Position> positions, ValueRange sums) {
  linalg::GenericOp op = contraction.op;
  if (emitter.work == KernelContext::Work::partial) {
    const PartialTree::Nodes &nodes = emitter.partialTree.nodes[op];
    SmallVector<Position> inNodes(positions);
    for (Position &position : inNodes)
      position.insert(position.begin(), {nodes.number, 0, nullptr});
    emitter.storeAll(nodes.buffers.front(), inNodes, sums);
    return success();
  }
  for (auto [position, value] : llvm::zip_equal(positions, sums))
    remember(op.getResult(0), position, value);
  return kernelOutputs.storeOutputs(kernel.getBody().front().getTerminator()->getOperands(), results,
                                    positions);
}

// Consecutive threads have consecutive vectors of a row, and the same columns in all rows.
Value Epilogue::columnInTile(const StagedAccumulators &staged, int64_t length) {
  assert(staged.threads % (staged.columns / length) == 0 && "threads cover whole rows");
  Value vector = binary<arith::RemUIOp>(staged.thread, indexConstant(staged.columns / length));
  return binary<arith::MulIOp>(vector, indexConstant(length));
}

LogicalResult Epilogue::emitVectors(const TileOrigin &origin, const StagedAccumulators &staged,
                                    int64_t length) {
  auto rows = [&] { return emitRows(origin, staged, length); };
  if (length < kMinVector || !readsOthers())
    return rows();
  return emitIfAllowed(isWhole(origin), [&] { return emitLoadingFirst(origin, staged, length); }, rows);
}

LogicalResult Epilogue::emitRows(const TileOrigin &origin, const StagedAccumulators &staged, int64_t length) {
  Value width = indexConstant(staged.columns / length), inColumn = columnInTile(staged, length);
  Value column = binary<arith::AddIOp>(binary<arith::AddIOp>(origin.n, staged.n), inColumn);
  Value first = binary<arith::DivUIOp>(staged.thread, width);
  Value rowStep = indexConstant(staged.threads / (staged.columns / length));
  return emitLoop(first, indexConstant(staged.rows), rowStep, [&](Value inRow) {
    Value row = binary<arith::AddIOp>(binary<arith::AddIOp>(origin.m, staged.m), rowInTile(staged, inRow));
    Value inside =
        binary<arith::AndIOp>(isBelow(row, tileMapping.sizeM()), isBelow(column, tileMapping.sizeN()));
    return emitIf(inside, [&] {
      ThreadMapping::PerThread perThread(mapping);
      SmallVector<Position> positions;
      for (Value index : vectorized.consecutiveIndices(column, length))
        positions.push_back(tileMapping.positionAt(origin, row, index));
      return storeElements(positions, load(staged, inRow, inColumn, length));
    });
  });
}

//===- Rows whose operands are loaded together ----------------------------===//

// Consumers of `wgmma` compute while others multiply, and have few registers besides the accumulators.
bool Epilogue::readsOthers() {
  return contraction.instruction != MathInstruction::Wgmma && emitter.work != KernelContext::Work::partial &&
         llvm::any_of(kernel.getBody().getArguments(), [&](BlockArgument argument) {
           return buffers.count(argument) && argument != contraction.operandA->get() &&
                  argument != contraction.operandB->get();
         });
}

// Null if every tile is inside of the result.
Value Epilogue::isWhole(const TileOrigin &origin) {
  ArrayRef<int64_t> shape = results.front().shape;
  int64_t m = shape[contraction.mAxis], n = shape.back();
  if (!ShapedType::isDynamic(m) && !ShapedType::isDynamic(n) && m % tile.m == 0 && n % tile.n == 0)
    return Value();
  Value lastRow = binary<arith::AddIOp>(origin.m, indexConstant(tile.m - 1)),
        lastColumn = binary<arith::AddIOp>(origin.n, indexConstant(tile.n - 1));
  return binary<arith::AndIOp>(isBelow(lastRow, tileMapping.sizeM()),
                               isBelow(lastColumn, tileMapping.sizeN()));
}

// What the fusion reads at these elements beside the product.
LogicalResult Epilogue::loadOthers(ArrayRef<Position> positions) {
  for (Value output : kernel.getBody().front().getTerminator()->getOperands()) {
    auto generic = output.getDefiningOp<linalg::GenericOp>();
    if (!generic || generic == contraction.op)
      continue;
    AffineMap map =
        generic.getMatchingIndexingMap(generic.getDpsInitOperand(cast<OpResult>(output).getResultNumber()));
    auto loops = llvm::map_to_vector(
        positions, [&](const Position &at) { return maps.loopsFromOutput(generic, map, at); });
    if (failed(emitter.evaluator.loadFirst(generic, loops)))
      return failure();
  }
  return success();
}

// A thread waits once for all rows of an iteration.
LogicalResult Epilogue::emitLoadingFirst(const TileOrigin &origin, const StagedAccumulators &staged,
                                         int64_t length) {
  int64_t width = staged.columns / length, rowStep = staged.threads / width;
  int64_t count = std::gcd(std::max<int64_t>(staged.rows / rowStep, 1),
                           tile.loadsByTma ? kRowsOfManyRegisters : kRowsOfFewRegisters);
  Value inColumn = columnInTile(staged, length);
  Value column = binary<arith::AddIOp>(binary<arith::AddIOp>(origin.n, staged.n), inColumn);
  Value first = binary<arith::DivUIOp>(staged.thread, indexConstant(width));
  return emitLoop(first, indexConstant(staged.rows), indexConstant(count * rowStep), [&](Value start) {
    ThreadMapping::PerThread perThread(mapping);
    SmallVector<Value> columns = vectorized.consecutiveIndices(column, length), inRows;
    SmallVector<SmallVector<Position>> rows;
    for (int64_t number = 0; number < count; ++number) {
      inRows.push_back(binary<arith::AddIOp>(start, indexConstant(number * rowStep)));
      Value row =
          binary<arith::AddIOp>(binary<arith::AddIOp>(origin.m, staged.m), rowInTile(staged, inRows.back()));
      rows.push_back(llvm::map_to_vector(
          columns, [&](Value index) { return tileMapping.positionAt(origin, row, index); }));
      if (failed(loadOthers(rows.back())))
        return failure();
    }
    for (auto [inRow, positions] : llvm::zip_equal(inRows, rows))
      if (Scope scope(context); failed(storeElements(positions, load(staged, inRow, inColumn, length))))
        return failure();
    return success();
  });
}
