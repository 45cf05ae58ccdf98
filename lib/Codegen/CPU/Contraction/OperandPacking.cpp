// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands of contractions in the order in which tiles read them: for a block of columns, panels as wide as a
// tile, each with K as the outer and the columns as the inner axis. OperandsToPack.cpp chooses the operands.

#include "../CPUKernelEmitter.h"
#include "../Movement/VectorShuffles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The prefetch distance in rows. Each row of an operand that is read in place is on its own page, which the
// hardware does not prefetch; the prefetched rows must fit the one set of the first-level cache that rows a
// multiple of the page size apart map to.
static int64_t rowsAhead(ArrayRef<int64_t> shape, int64_t elementBytes, bool inPlace) {
  return inPlace && areRowsPagesApart(shape.back(), elementBytes) ? 8 : 40;
}

// Rows that are packed column by column; each has a stream of its own for the hardware's prefetcher.
static constexpr int64_t kPackedRows = 8;

// Memory on the stack, in the entry block.
Value OperandPacking::scratch(Type memory, int64_t elements) {
  scratchUsed += elements * memory.getIntOrFloatBitWidth() / 8;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  Value count = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), elements);
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), memory, count,
                                kCore.lineBytes);
}

// Panels of a dynamic K are as long as K is, rounded up to whole vectors.
Value OperandPacking::panelElements(const PackedOperand &packed) {
  if (!packed.isDynamicK())
    return indexConstant(packed.sizeK * packed.tile);
  Value steps =
      binary<arith::CeilDivUIOp>(elementsOf(packed).sizes[packed.axisK], indexConstant(packed.group));
  Value vectors = binary<arith::CeilDivUIOp>(steps, indexConstant(vectorLanes));
  return binary<arith::MulIOp>(vectors, indexConstant(vectorLanes * packed.tile));
}

// Whether the panels of all operands with a dynamic K have room for it; null if there is none.
Value OperandPacking::fitsPanels(ArrayRef<PackedOperand> packed) {
  Value all;
  for (const PackedOperand &operand : packed) {
    if (!operand.mayNotFit())
      continue;
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       elementsOf(operand).sizes[operand.axisK], indexConstant(operand.maxK));
    all = both(all, fits);
  }
  return all;
}

// The offset of element (k, column): the panel of the column, then k, then the column in the panel.
Value OperandPacking::packedIndex(const PackedOperand &packed, Value indexK, Value column) {
  Value width = indexConstant(packed.tile);
  Value offset = binary<arith::SubIOp>(column, packed.start);
  Value panel = binary<arith::DivUIOp>(offset, width);
  Value within = binary<arith::RemUIOp>(offset, width);
  Value index = binary<arith::MulIOp>(panel, packed.stride);
  index = binary<arith::AddIOp>(index, within);
  return binary<arith::AddIOp>(index, binary<arith::MulIOp>(indexK, width));
}

Value OperandPacking::packedPointer(const PackedOperand &packed, ArrayRef<Index> loops) {
  SmallVector<unsigned> reduced;
  cast<linalg::GenericOp>(packed.operand->getOwner()).getReductionDims(reduced);
  const Index &column = loops[loops.size() - 2], &indexK = loops[reduced.front()];
  return pointerToPacked(packed, indexK.base, column.base);
}

Value OperandPacking::pointerToPacked(const PackedOperand &packed, Value indexK, Value column) {
  Buffer target;
  target.pointer = packed.pointer;
  target.element = packed.memory;
  return emitter.memoryAccess.pointerAt(target, packedIndex(packed, indexK, column));
}

Value OperandPacking::loadPacked(const PackedOperand &packed, ArrayRef<Index> loops) {
  Type type = lanes > 1 ? Type(VectorType::get(lanes, packed.memory)) : packed.memory;
  // Panels have elements for lanes past the last column.
  Value value = LLVM::LoadOp::create(builder, loc, type, packedPointer(packed, loops),
                                     packed.memory.getIntOrFloatBitWidth() / 8);
  return packed.group > 1
             ? value
             : emitter.memoryAccess.fromMemory(value, getElementTypeOrSelf(packed.operand->get().getType()));
}

// The rows of a tile use one value, which is stored once, or never if no other tile loads it.
void OperandPacking::fillPacked(PackedOperand &packed, ArrayRef<Index> loops, Value value) {
  if (!packed.filled.insert(value.getAsOpaquePointer()).second)
    return;
  if (!packed.inPlace)
    LLVM::StoreOp::create(builder, loc, value, packedPointer(packed, loops),
                          getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
  SmallVector<unsigned> reduced;
  cast<linalg::GenericOp>(packed.operand->getOwner()).getReductionDims(reduced);
  SmallVector<Index> later(loops);
  Index &indexK = later[reduced.front()];
  const Buffer &buffer = buffers.find(packed.operand->get())->second;
  int64_t ahead = rowsAhead(buffer.shape, packed.memory.getIntOrFloatBitWidth() / 8, packed.inPlace);
  indexK.base = binary<arith::AddIOp>(indexK.base, indexConstant(ahead));
  int64_t step;
  Value indices;
  Value index =
      emitter.memoryAccess.linearIndex(buffer, emitter.evaluator.apply(packed.map, later), step, indices);
  LLVM::Prefetch::create(builder, loc, emitter.memoryAccess.pointerAt(buffer, index), /*rw=*/0, /*hint=*/3,
                         /*cache=*/1);
}

bool OperandPacking::canPrefetch(const PackedOperand &packed) {
  Type element = getElementTypeOrSelf(packed.operand->get().getType());
  return packed.group == 1 && !packed.isTransposed() && memoryType(element) == element &&
         buffers.count(packed.operand->get());
}

bool OperandPacking::canFill(const PackedOperand &packed) {
  return !packed.prepacked && !packed.inPlace && canPrefetch(packed);
}

// Whether fewer rows than a tile read the operands in place, as for that static number.
static bool readsFewInPlace(const Nest &nest) {
  return ShapedType::isDynamic(nest.rowCount()) && nest.rows > 1;
}

// The first tile of rows packs while it computes, if there is a whole tile: memory limits it, not FMAs.
// Returns the first row that is left.
FailureOr<Value> OperandPacking::emitFillingTile(const Nest &nest, Value lower, Value upper,
                                                 const Position &outer, std::pair<Value, Value> columns,
                                                 MutableArrayRef<PackedOperand> packed, Store store) {
  Value rows = indexConstant(nest.rows);
  Value fits = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::uge,
                                                   binary<arith::SubIOp>(upper, lower), rows);
  auto branch = scf::IfOp::create(builder, loc, TypeRange(), fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  if (failed(packOrReadInPlace(nest, lower, upper, outer, columns, packed, store)))
    return failure();
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(fillWhileComputing(nest, lower, outer, columns, packed, store)))
    return failure();
  builder.setInsertionPointAfter(branch);
  return builder.createOrFold<arith::SelectOp>(loc, fits, binary<arith::AddIOp>(lower, rows),
                                               readsFewInPlace(nest) ? upper : lower);
}

// For fewer rows than a tile: packs the operands, or computes all rows with the operands in place.
LogicalResult OperandPacking::packOrReadInPlace(const Nest &nest, Value lower, Value upper,
                                                const Position &outer, std::pair<Value, Value> columns,
                                                MutableArrayRef<PackedOperand> packed, Store store) {
  bool inPlace = readsFewInPlace(nest);
  for (PackedOperand &operand : llvm::make_filter_range(packed, [&](auto &each) { return canFill(each); })) {
    operand.inPlace = inPlace;
    if (failed(pack(operand, outer, columns.first, columns.second)))
      return failure();
    operand.inPlace = false;
  }
  if (!inPlace)
    return success();
  CPUKernelEmitter::Scope few(emitter);
  Nest less = nest;
  less.rows = llvm::bit_floor<uint64_t>(nest.rows - 1);
  return emitter.blocks.emitRowTiles(less, lower, upper, outer, [&](ArrayRef<Position> rows) {
    less.vectors = emitter.blocks.vectorsFor(nest, rows.size());
    return emitter.nests.emitLaneLoop(less, columns.first, columns.second, rows, store);
  });
}

// The tile that begins at `row`: each operand is read in place, and stored where it is packed.
LogicalResult OperandPacking::fillWhileComputing(const Nest &nest, Value row, const Position &outer,
                                                 std::pair<Value, Value> columns,
                                                 MutableArrayRef<PackedOperand> packed, Store store) {
  for (PackedOperand &operand : packed) {
    operand.filling = operand.inPlace || canFill(operand);
    packedOperands[operand.operand] = operand;
  }
  SmallVector<Position> tile;
  for (int64_t i = 0; i < nest.rows; ++i)
    tile.push_back(emitter.blocks.rowPosition(nest, outer, row, i, /*aligned=*/1));
  CPUKernelEmitter::Scope scope(emitter);
  if (failed(emitter.nests.emitLaneLoop(nest, columns.first, columns.second, tile, store)))
    return failure();
  for (PackedOperand &operand : packed)
    packedOperands[operand.operand].filling = operand.inPlace;
  return success();
}

// An operand that the kernel converts has sizes, but no address.
Buffer OperandPacking::elementsOf(const PackedOperand &packed) {
  if (auto found = buffers.find(packed.operand->get()); found != buffers.end())
    return found->second;
  auto type = cast<RankedTensorType>(packed.operand->get().getType());
  Buffer buffer{{}, type.getElementType(), SmallVector<int64_t>(type.getShape()), {}};
  for (int64_t size : type.getShape())
    buffer.sizes.push_back(indexConstant(size));
  return buffer;
}

FailureOr<Value> OperandPacking::loadElements(const PackedOperand &packed, const Buffer &buffer,
                                              const Position &position) {
  if (buffer.pointer)
    return emitter.memoryAccess.load(buffer, position);
  if (packed.isTransposed() && packed.group == kBF16DotProduct.group)
    return emitter.dots.convertPairs(packed.operand, position);
  CPUKernelEmitter::Scope scope(emitter);
  FailureOr<Value> value = emitter.evaluator.evaluateOne(packed.operand->get(), position);
  if (failed(value))
    return failure();
  return emitter.laneValues.splat(*value, lanes); // constants are scalars
}

LogicalResult OperandPacking::pack(PackedOperand &packed, const Position &outer, Value start, Value end) {
  packed.start = packed.prepacked ? indexConstant(0) : start;
  packed.filling = packed.inPlace;
  packedOperands[packed.operand] = packed;
  if (packed.prepacked || packed.inPlace)
    return success();
  return fillPanels(packed, elementsOf(packed), outer, start, end);
}

// The number of steps along K in a panel of columns, each of `group` elements where pairs are packed.
Value OperandPacking::groupsOfK(const PackedOperand &packed, const Buffer &buffer) {
  Value sizeK = buffer.sizes[packed.axisK];
  return packed.group == kBF16DotProduct.group ? binary<arith::DivUIOp>(sizeK, indexConstant(packed.group))
                                               : sizeK;
}

LogicalResult OperandPacking::fillPanels(const PackedOperand &packed, const Buffer &buffer,
                                         const Position &outer, Value start, Value end) {
  if (packed.group == kByteDotProduct.group) {
    emitter.byteDots.fillBytePanels(packed, buffer, outer, start, end);
    return success();
  }
  return packed.isTransposed() ? fillTransposed(packed, buffer, outer, start, end)
                               : fillStraight(packed, buffer, outer, start, end);
}

LogicalResult OperandPacking::fillTransposed(const PackedOperand &packed, const Buffer &buffer,
                                             const Position &outer, Value start, Value end) {
  auto overColumns = [&](Value column) -> LogicalResult {
    auto overK = [&](Value indexK) -> LogicalResult {
      CPUKernelEmitter::WithLanes vectorCode(emitter, vectorLanes, nullptr);
      return packTransposed(packed, buffer, outer, indexK, column, end);
    };
    return emitter.emitLoop(indexConstant(0), groupsOfK(packed, buffer), indexConstant(vectorLanes), overK);
  };
  return emitter.emitLoop(start, end, indexConstant(vectorLanes), overColumns);
}

// Rows in blocks, and in a block all columns of a row: rows a multiple of the page size apart map to one set
// of the first-level cache, which keeps their lines until the next columns are read only if they are few.
LogicalResult OperandPacking::fillStraight(const PackedOperand &packed, const Buffer &buffer,
                                           const Position &outer, Value start, Value end) {
  Value count = groupsOfK(packed, buffer), block = indexConstant(kPackedRows / packed.group);
  auto overBlocks = [&](Value first) -> LogicalResult {
    Value last = binary<arith::MinUIOp>(binary<arith::AddIOp>(first, block), count);
    auto overColumns = [&](Value column) -> LogicalResult {
      auto overK = [&](Value indexK) -> LogicalResult {
        CPUKernelEmitter::WithLanes vectorCode(emitter, vectorLanes, nullptr);
        return packStraight(packed, buffer, outer, indexK, column, end);
      };
      return emitter.emitLoop(first, last, indexConstant(1), overK);
    };
    return emitter.emitLoop(start, end, indexConstant(vectorLanes), overColumns);
  };
  return emitter.emitLoop(indexConstant(0), count, block, overBlocks);
}

// A copy of a matrix into PackedLayout.
std::optional<PackedOperand> OperandPacking::packingOfCopy(Value output) {
  auto copy = output.getDefiningOp<linalg::GenericOp>();
  if (!copy || copy.getNumDpsInputs() != 1 || copy.getNumResults() != 1 || copy.getNumLoops() != 2 ||
      copy.getNumReductionLoops() > 0 || !buffers.count(copy.getDpsInputs()[0]) ||
      copy.getBlock()->getTerminator()->getOperand(0) != copy.getBlock()->getArgument(0) ||
      !copy.getMatchingIndexingMap(copy.getDpsInputOperand(0)).isIdentity())
    return std::nullopt;
  AffineMap target = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
  for (unsigned column : {0, 1}) {
    std::optional<PackedLayout> layout = PackedLayout::match(target, cast<RankedTensorType>(output.getType()),
                                                             copy.getStaticLoopRanges(), column, 1 - column);
    if (!layout)
      continue;
    OpOperand *source = copy.getDpsInputOperand(0);
    PackedOperand packed{source, copy.getMatchingIndexingMap(source), column, 1 - column};
    Type element = getElementTypeOrSelf(output.getType());
    packed.group = layout->group;
    packed.memory = layout->group > 1 ? builder.getI32Type() : memoryType(element);
    packed.sizeK = results.front().shape[1];
    packed.tile = layout->tile;
    packed.pointer = results.front().pointer;
    packed.start = indexConstant(0);
    packed.stride = panelElements(packed);
    return packed;
  }
  return std::nullopt;
}

LogicalResult OperandPacking::emitPacking(const PackedOperand &packed) {
  // A unit is a panel.
  Nest nest = emitter.kernelOutputs.nestOver(results.front(), {});
  nest.units = emitter.distribution.unitsOfCall;
  if (!emitter.distribution.isTooShort())
    nest.unitLoops = {{{0}, 1}};
  emitter.distribution.declareUnits({{0, nest.unitLoops}});
  const Buffer &buffer = buffers.find(packed.operand->get())->second;
  auto [lower, upper] = emitter.distribution.boundsOf(nest, 0, nest.units);
  Value tile = indexConstant(packed.tile), columns = buffer.sizes[packed.columnAxis];
  return fillPanels(packed, buffer, {}, binary<arith::MulIOp>(lower, tile),
                    binary<arith::MinUIOp>(binary<arith::MulIOp>(upper, tile), columns));
}

// The position of an element of the operand, with batch axes from the outer loops.
Position OperandPacking::operandPosition(const PackedOperand &packed, const Position &outer, Index indexK,
                                         Index column) {
  Position position(packed.map.getNumResults());
  for (auto [axis, expr] : llvm::enumerate(packed.map.getResults()))
    position[axis] = int64_t(axis) == packed.columnAxis ? column
                     : int64_t(axis) == packed.axisK    ? indexK
                                                        : outer[cast<AffineDimExpr>(expr).getPosition()];
  return position;
}

// Lanes below `count`; null if all lanes are.
Value OperandPacking::lanesBelow(Value count) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, emitter.laneValues.laneNumbers(),
                               emitter.laneValues.splat(count, lanes));
}

static void storePacked(OpBuilder &builder, Location loc, Value pointer, Value value, Type memory) {
  LLVM::StoreOp::create(builder, loc, value, pointer, memory.getIntOrFloatBitWidth() / 8);
}

LogicalResult OperandPacking::packStraight(const PackedOperand &packed, const Buffer &buffer,
                                           const Position &outer, Value indexK, Value column, Value end) {
  bool isWhole = hasWholeVectors(buffer.shape[packed.columnAxis], lanes);
  mask = isWhole ? Value() : lanesBelow(binary<arith::SubIOp>(end, column));
  auto row = [&](Value at) {
    return loadElements(packed, buffer,
                        operandPosition(packed, outer, {at, 0, nullptr}, {column, 1, nullptr}));
  };
  Value value;
  if (packed.group == kBF16DotProduct.group) {
    Value first = binary<arith::MulIOp>(indexK, indexConstant(packed.group));
    FailureOr<Value> low = row(first), high = row(binary<arith::AddIOp>(first, indexConstant(1)));
    if (failed(low) || failed(high))
      return failure();
    value = emitter.dots.joinPair(*low, *high);
  } else {
    FailureOr<Value> loaded = row(indexK);
    if (failed(loaded))
      return failure();
    value = emitter.memoryAccess.toMemory(*loaded);
  }
  mask = nullptr;
  storePacked(builder, loc, pointerToPacked(packed, indexK, column), value, packed.memory);
  return success();
}

// A square block: one vector along K for each of as many columns as there are lanes, transposed in registers.
// Columns past the last one repeat it; the padding of K is zero and never read.
LogicalResult OperandPacking::packTransposed(const PackedOperand &packed, Buffer buffer,
                                             const Position &outer, Value indexK, Value column, Value end) {
  if (packed.group == kBF16DotProduct.group)
    buffer = emitter.dots.inPairs(buffer);
  bool wholeK = hasWholeVectors(buffer.shape[packed.axisK], lanes);
  bool wholeColumns = hasWholeVectors(buffer.shape[packed.columnAxis], lanes);
  mask = wholeK ? Value() : lanesBelow(binary<arith::SubIOp>(buffer.sizes[packed.axisK], indexK));
  Value last = binary<arith::SubIOp>(end, indexConstant(1));
  SmallVector<Value> rows;
  for (int64_t i = 0; i < lanes; ++i) {
    Value at = binary<arith::AddIOp>(column, indexConstant(i));
    if (!wholeColumns)
      at = binary<arith::MinUIOp>(at, last);
    FailureOr<Value> row =
        loadElements(packed, buffer, operandPosition(packed, outer, {indexK, 1, nullptr}, {at, 0, nullptr}));
    if (failed(row))
      return failure();
    rows.push_back(emitter.memoryAccess.toMemory(*row));
  }
  mask = nullptr;
  transposeInRegisters(builder, loc, rows);
  for (int64_t i = 0; i < lanes; ++i) {
    Value at = binary<arith::AddIOp>(indexK, indexConstant(i));
    OpBuilder::InsertionGuard guard(builder);
    if (!packed.isDynamicK() && packed.sizeK % lanes != 0) { // the panel has no room past the end of K
      Value inside =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, indexConstant(packed.sizeK));
      auto branch = scf::IfOp::create(builder, loc, inside);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    storePacked(builder, loc, pointerToPacked(packed, at, column), rows[i], packed.memory);
  }
  return success();
}
