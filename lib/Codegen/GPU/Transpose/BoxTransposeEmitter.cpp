// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "BoxTransposeEmitter.h"
#include "../Generic/SharedMemory.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Elements that a thread loads before it stores the first one.
static constexpr int64_t kAtOnce = 32;

BoxTransposeEmitter::BoxTransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                         const Transposition &transposition)
    : GPUKernelEmitter(kernel, function), transposition(transposition), tile(transposition) {
  memory = memoryType(getElementTypeOrSelf(kernel.getResultTypes().front()));
}

//===- The grid -----------------------------------------------------------===//

// A thread block for each tile.
void BoxTransposeEmitter::describeLaunch() {
  const Buffer &result = results.front();
  launchShape = {MappingLevel::block, 0, static_cast<int64_t>(result.shape.size())};
  launchShape.threadsPerBlock = tile.threads;
  launchShape.tile.assign(result.shape.size(), 1);
  for (const TileSide *side : {&tile.read, &tile.write}) {
    for (int64_t axis : side->axes)
      launchShape.tile[axis] = result.shape[axis];
    launchShape.tile[side->axes.front()] = side->part;
  }
  if (ShapedType::isDynamicShape(result.shape))
    return;
  launchShape.gridSize = 1;
  for (auto [size, part] : llvm::zip_equal(result.shape, launchShape.tile))
    launchShape.gridSize *= llvm::divideCeil(size, part);
  launchShape.tile.clear();
}

LogicalResult BoxTransposeEmitter::emitOutputs() {
  describeLaunch();
  shared = sharedMemory(builder, function, tile.sharedBytes(), "tile");
  PerThread perThread(mapping);
  linalg::GenericOp op = transposition.op;
  SmallVector<int64_t> ofOperand, ofResult = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumLoops()));
  for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInputOperand(0)).getResults())
    ofOperand.push_back(cast<AffineDimExpr>(expr).getPosition());
  Lines read =
      linesOf(tile.read, tile.write, buffers.find(op.getDpsInputs()[0])->second, ofOperand, tile.elements);
  Lines write = linesOf(tile.write, tile.read, results.front(), ofResult, /*together=*/1);
  Value count = indexConstant(1);
  for (int64_t axis : ofResult)
    count = binary<arith::MulIOp>(count, tilesAlong(axis));
  return emitLoop(mapping.block, count, mapping.gridBlocks, [&](Value number) {
    SmallVector<Value> origin = originAt(number);
    mapping.synchronizeBlock(); // all threads have read the tile before
    if (failed(readTile(moved(read, origin))))
      return failure();
    mapping.synchronizeBlock();
    return writeTile(moved(write, origin));
  });
}

// The part of the axis that a tile has.
static int64_t partAlong(const BoxTile &tile, int64_t axis, int64_t size) {
  for (const TileSide *side : {&tile.read, &tile.write})
    if (llvm::is_contained(side->axes, axis))
      return axis == side->axes.front() ? side->part : size;
  return 1;
}

Value BoxTransposeEmitter::tilesAlong(int64_t axis) {
  int64_t part = partAlong(tile, axis, results.front().shape[axis]);
  return builder.createOrFold<arith::CeilDivUIOp>(loc, results.front().sizes[axis], indexConstant(part));
}

// The indices of the first element. Consecutive tiles are adjacent along the operand's contiguous axis, where
// they share cache lines.
SmallVector<Value> BoxTransposeEmitter::originAt(Value number) {
  ArrayRef<int64_t> shape = results.front().shape;
  SmallVector<int64_t> order = {tile.read.axes.front(), tile.write.axes.front()};
  for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0; --axis)
    if (!llvm::is_contained(order, axis))
      order.push_back(axis);
  SmallVector<Value> origin(shape.size());
  for (int64_t axis : order) {
    Value tiles = tilesAlong(axis);
    Value own = axis == order.back() ? number : binary<arith::RemUIOp>(number, tiles);
    number = binary<arith::DivUIOp>(number, tiles);
    origin[axis] = binary<arith::MulIOp>(own, indexConstant(partAlong(tile, axis, shape[axis])));
  }
  return origin;
}

//===- Lines --------------------------------------------------------------===//

// Elements of the tensor from one index of an axis of the result to the next one.
SmallVector<Value> BoxTransposeEmitter::stridesOf(const Buffer &buffer, ArrayRef<int64_t> axes) {
  SmallVector<Value> strides(axes.size());
  Value stride = indexConstant(1);
  for (int64_t at = int64_t(axes.size()) - 1; at >= 0; --at) {
    strides[axes[at]] = stride;
    stride = binary<arith::MulIOp>(stride, buffer.sizes[at]);
  }
  return strides;
}

BoxTransposeEmitter::Lines BoxTransposeEmitter::linesOf(const TileSide &along, const TileSide &across,
                                                        const Buffer &buffer, ArrayRef<int64_t> axes,
                                                        int64_t together) {
  Lines lines{along, across, buffer, stridesOf(buffer, axes), together, tile.threads / along.threads};
  Value threads = indexConstant(along.threads);
  lines.first = binary<arith::DivUIOp>(mapping.threadInBlock, threads);
  lines.place = binary<arith::RemUIOp>(mapping.threadInBlock, threads);
  return lines;
}

// The elements along a side of the tile that are in the tensor. Null: all of them.
Value BoxTransposeEmitter::limitAlong(const TileSide &side, ArrayRef<Value> origin) {
  if (side.isWhole)
    return nullptr;
  int64_t axis = side.axes.front();
  Value left = binary<arith::SubIOp>(results.front().sizes[axis], origin[axis]);
  return binary<arith::MinUIOp>(binary<arith::MulIOp>(left, indexConstant(side.inner)),
                                indexConstant(side.extent()));
}

BoxTransposeEmitter::Moved BoxTransposeEmitter::moved(const Lines &lines, ArrayRef<Value> origin) {
  Value start = offsetOf(lines.along, lines.strides, lines.place);
  for (auto [index, stride] : llvm::zip_equal(origin, lines.strides))
    start = binary<arith::AddIOp>(start, binary<arith::MulIOp>(index, stride));
  if (lines.across.axes.size() == 1) {
    Value stride = lines.strides[lines.across.axes.front()];
    start = binary<arith::AddIOp>(start, binary<arith::MulIOp>(firstLine(lines), stride));
  }
  const TileSide &along = lines.along;
  Value places = limitAlong(along, origin), limit = limitAlong(lines.across, origin);
  Value active;
  auto require = [&](Value below, Value bound) {
    Value own = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, below, bound);
    active = active ? binary<arith::AndIOp>(active, own) : own;
  };
  if (lines.step * along.threads < tile.threads)
    require(lines.first, indexConstant(lines.step));
  if (places || along.threads > along.extent())
    require(lines.place, places ? places : indexConstant(along.extent()));
  if (!limit && (active || lines.count() * lines.step * lines.together > lines.across.extent()))
    limit = indexConstant(lines.across.extent());
  if (active)
    limit = arith::SelectOp::create(builder, loc, active, limit, indexConstant(0));
  return {lines, start, limit};
}

// How far the element is from the first one of the tile in memory.
Value BoxTransposeEmitter::offsetOf(const TileSide &side, ArrayRef<Value> strides, Value number) {
  Value offset = indexConstant(0);
  for (int64_t axis : llvm::reverse(ArrayRef(side.axes).drop_front())) {
    Value size = results.front().sizes[axis];
    offset = binary<arith::AddIOp>(
        offset, binary<arith::MulIOp>(binary<arith::RemUIOp>(number, size), strides[axis]));
    number = binary<arith::DivUIOp>(number, size);
  }
  return binary<arith::AddIOp>(offset, binary<arith::MulIOp>(number, strides[side.axes.front()]));
}

Value BoxTransposeEmitter::firstLine(const Lines &lines) {
  return binary<arith::MulIOp>(lines.first, indexConstant(lines.together));
}

// The lines of most threads are all there, but the last one, which threads share where their number does not
// divide the tile. At the edges of the tensor others may be missing.
LogicalResult BoxTransposeEmitter::overLines(const Moved &moved, LineCode code) {
  const Lines &lines = moved.lines;
  auto emitted = [&](int64_t whole) {
    return [&, whole] {
      code(whole);
      return success();
    };
  };
  if (!moved.limit)
    return emitted(lines.count())();
  int64_t together = lines.step * lines.together, whole = lines.across.extent() / together;
  auto isBelow = [&](Value line) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, line, moved.limit);
  };
  auto some = [&] { return emitIf(isBelow(firstLine(lines)), emitted(0)); };
  if (whole == 0)
    return some();
  Value hasWhole = isBelow(indexConstant(whole * together - 1));
  return lines.across.isWhole ? emitIf(hasWhole, emitted(whole)) : emitIf(hasWhole, emitted(whole), some);
}

// From the first line of the thread.
Value BoxTransposeEmitter::distanceTo(const Lines &lines, int64_t number, int64_t part) {
  return indexConstant(number * lines.step * lines.together + part);
}

Value BoxTransposeEmitter::isThere(const Moved &moved, Value distance) {
  Value line = binary<arith::AddIOp>(firstLine(moved.lines), distance);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, line, moved.limit);
}

Value BoxTransposeEmitter::addressInMemory(const Moved &moved, Value distance) {
  const Lines &lines = moved.lines;
  ArrayRef<int64_t> axes = lines.across.axes;
  Value offset = axes.size() == 1 ? binary<arith::MulIOp>(distance, lines.strides[axes.front()])
                                  : offsetOf(lines.across, lines.strides,
                                             binary<arith::AddIOp>(firstLine(lines), distance));
  return memoryAccess.pointerAt(lines.buffer, binary<arith::AddIOp>(moved.start, offset));
}

//===- Elements -----------------------------------------------------------===//

Value BoxTransposeEmitter::addressInTile(Value readNumber, Value writeNumber, int64_t bytes) {
  Value start = binary<arith::MulIOp>(readNumber, indexConstant(tile.pitch * tile.wordBytes()));
  Value offset = binary<arith::MulIOp>(writeNumber, indexConstant(bytes));
  return addBytes(builder, loc, shared, binary<arith::AddIOp>(start, offset));
}

// The elements of the lines that share a word. In place of a line that is missing, the thread loads from its
// first one: no load depends on a branch.
Value BoxTransposeEmitter::loadWord(const Moved &moved, int64_t whole, int64_t number) {
  Type type = builder.getI32Type();
  Value word;
  for (int64_t part = 0; part < tile.elements; ++part) {
    Value distance = distanceTo(moved.lines, number, part);
    if (number >= whole && constantOf(distance) != 0)
      distance = arith::SelectOp::create(builder, loc, isThere(moved, distance), distance, indexConstant(0));
    Value address = addressInMemory(moved, distance);
    Value element = LLVM::LoadOp::create(builder, loc, memory, address, tile.bytes);
    if (tile.elements == 1)
      return element;
    element = arith::ExtUIOp::create(builder, loc, type, element);
    Value bits = arith::ConstantIntOp::create(builder, loc, type, 8 * tile.bytes * part);
    word = word ? binary<arith::OrIOp>(word, arith::ShLIOp::create(builder, loc, element, bits)) : element;
  }
  return word;
}

// So many of `count` lines at a time.
static void inBatches(int64_t count, int64_t atOnce, function_ref<void(llvm::iota_range<int64_t>)> code) {
  for (int64_t first = 0; first < count; first += atOnce)
    code(llvm::seq(first, std::min(first + atOnce, count)));
}

// Words of lines that are missing have room in the tile.
LogicalResult BoxTransposeEmitter::readTile(const Moved &moved) {
  const Lines &lines = moved.lines;
  return overLines(moved, [&](int64_t whole) {
    inBatches(lines.count(), kAtOnce / lines.together, [&](auto numbers) {
      auto words = llvm::map_to_vector(numbers, [&](int64_t n) { return loadWord(moved, whole, n); });
      for (auto [number, word] : llvm::zip_equal(numbers, words)) {
        Value row = binary<arith::AddIOp>(lines.first, indexConstant(number * lines.step));
        LLVM::StoreOp::create(builder, loc, word, addressInTile(lines.place, row, tile.wordBytes()),
                              tile.wordBytes());
      }
    });
  });
}

LogicalResult BoxTransposeEmitter::writeTile(const Moved &moved) {
  const Lines &lines = moved.lines;
  auto load = [&](Value distance) {
    Value line = binary<arith::AddIOp>(lines.first, distance);
    return LLVM::LoadOp::create(builder, loc, memory, addressInTile(line, lines.place, tile.bytes),
                                tile.bytes);
  };
  auto store = [&](Value element, Value distance) {
    LLVM::StoreOp::create(builder, loc, element, addressInMemory(moved, distance), tile.bytes);
  };
  return overLines(moved, [&](int64_t whole) {
    inBatches(whole, kAtOnce, [&](auto numbers) {
      auto elements = llvm::map_to_vector(
          numbers, [&](int64_t number) -> Value { return load(distanceTo(lines, number)); });
      for (auto [number, element] : llvm::zip_equal(numbers, elements))
        store(element, distanceTo(lines, number));
    });
    for (int64_t number = whole; number < lines.count(); ++number) {
      Value distance = distanceTo(lines, number);
      (void)emitIf(isThere(moved, distance), [&] {
        store(load(distance), distance);
        return success();
      });
    }
  });
}
