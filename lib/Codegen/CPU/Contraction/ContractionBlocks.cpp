// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions and other reductions into every point of a result: tiles of rows and vectors stay in registers
// over the whole reduction, in an order that keeps the operands in the caches.

#include "../CPUKernelEmitter.h"
#include "adjoint/Codegen/Kernel/RegisterTile.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The widest accumulator type of all reductions that the outputs depend on; null if there is none.
static Type widestSum(ArrayRef<Value> outputs) {
  Type widest;
  auto consider = [&](linalg::GenericOp generic) {
    Type type = getElementTypeOrSelf(generic.getResultTypes().front());
    if (generic.getNumReductionLoops() > 0 &&
        (!widest || widest.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth()))
      widest = type;
    return false;
  };
  for (Value output : outputs)
    dependsOn(output, consider);
  return widest;
}

// Whether an operand was packed before the kernel: only blocks read panels. Their maps divide the column.
static bool readsPanels(KernelOp kernel) {
  auto isPanel = [](AffineMap map) {
    return llvm::any_of(map.getResults(), [](AffineExpr axis) { return isa<AffineBinaryOpExpr>(axis); });
  };
  return llvm::any_of(kernel.getBody().getOps<linalg::GenericOp>(), [&](linalg::GenericOp generic) {
    return generic.getNumReductionLoops() > 0 && llvm::any_of(generic.getIndexingMapsArray(), isPanel);
  });
}

// Whether the argument is large and better read in one sweep than in blocks of columns. Rows of an operand
// that is contiguous along K are no rows of columns: how far they are apart decides nothing.
static bool isSwept(Value argument) {
  if (!isFromMemory(argument.getType()))
    return false;
  for (OpOperand &use : argument.getUses()) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (generic && convertedFrom(generic.getResult(0)))
      return isSwept(generic.getResult(0));
    if (!generic || generic.getNumReductionLoops() == 0 || !generic.isDpsInput(&use))
      continue;
    ArrayRef<AffineExpr> axes = generic.getMatchingIndexingMap(&use).getResults();
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    bool contiguousAlongK = !axes.empty() && !llvm::is_contained(out.getResults(), axes.back());
    return contiguousAlongK || isSweptFaster(argument.getType());
  }
  return true;
}

// With one row no operand is read again, and the hardware would prefetch past the end of each block.
static bool sweepsOneRow(KernelOp kernel, ArrayRef<int64_t> rows) {
  return llvm::all_of(rows, [](int64_t size) { return size == 1; }) && !readsPanels(kernel) &&
         llvm::any_of(kernel.getBody().getArguments(), isSwept);
}

// The register tile of a reduction, and whether the nest has blocks of columns.
void ContractionBlocks::chooseBlock(Nest &nest) {
  Type sum = widestSum(nest.outputs);
  int64_t axis = nest.vectorize ? nest.laneAxis() : -1;
  if (!sum || axis < 0)
    return;
  nest.rowAxes = rowAxesOf(nest, axis);
  nest.blocked = !nest.rowAxes.empty() && !sweepsOneRow(kernel, ArrayRef(nest.shape).take_front(axis));
  nest.rows = chooseRegisterTile(tiles, nest.rowCount(), nest.shape[axis], vectorLanes, sum).rows;
  emitter.byteDots.chooseByteProducts(nest, axis);
  nest.vectors = vectorsFor(nest, nest.rowCount());
}

// A tile of fewer rows has registers for more vectors. Byte products have been chosen: they transpose
// otherwise.
int64_t ContractionBlocks::vectorsFor(const Nest &nest, int64_t rows) {
  int64_t axis = nest.laneAxis();
  RegisterTile tile = chooseRegisterTile(tiles, rows, nest.shape[axis], vectorLanes, widestSum(nest.outputs));
  return std::min(tile.vectors, emitter.registerTranspose.maxTransposedVectors(nest, axis));
}

int64_t cpu::reducedSize(ArrayRef<Value> outputs) {
  int64_t size = 0;
  for (Value output : outputs)
    dependsOn(output, [&](linalg::GenericOp generic) {
      SmallVector<unsigned> dims;
      generic.getReductionDims(dims);
      if (dims.size() == 1)
        size = generic.getStaticLoopRanges()[dims.front()];
      return size != 0;
    });
  return std::max<int64_t>(size, 0);
}

// For the host, which decides whether several threads are faster.
void ContractionBlocks::recordK(ValueRange outputs) {
  int64_t k = 0;
  for (Value output : outputs)
    k += reducedSize(output);
  if (k > 0)
    function->setAttr("ad.k", builder.getI64IntegerAttr(k));
}

// Whether the outputs need a contraction whose K is not known.
static bool hasDynamicK(ArrayRef<Value> outputs) {
  auto isDynamic = [](linalg::GenericOp generic) {
    SmallVector<unsigned> dims;
    generic.getReductionDims(dims);
    return dims.size() == 1 && generic.getNumDpsInputs() == 2 &&
           ShapedType::isDynamic(generic.getStaticLoopRanges()[dims.front()]);
  };
  return llvm::any_of(outputs, [&](Value output) { return dependsOn(output, isDynamic); });
}

// Columns whose part of the right operand stays in the cache while all rows pass: whole tiles.
int64_t ContractionBlocks::blockColumns(const Nest &nest) {
  int64_t tile = nest.vectors * vectorLanes;
  int64_t sizeK = reducedSize(nest.outputs);
  if (sizeK == 0 && !hasDynamicK(nest.outputs))
    return 0;
  bool areBytes = !emitter.byteDots.byteProducts.empty();
  // Of a dynamic K, a longer one than usual fits the panels of bytes, too.
  sizeK = sizeK == 0 ? kUsualK * (areBytes ? kBytesPerLane : 1) : sizeK;
  int64_t element = areBytes ? 1 : memoryBytes(results.front().element);
  return std::max<int64_t>(1, tiles.blockBytes / (sizeK * element * tile)) * tile;
}

// Whether tiles divide the rows. Then no code for fewer rows is necessary: a unit begins and ends with a
// tile.
static bool hasWholeTiles(int64_t size, int64_t rows) {
  return !ShapedType::isDynamic(size) && size % rows == 0;
}

// Loops over the batch axes, then blocks of all rows.
LogicalResult ContractionBlocks::emitBatches(const Nest &nest, int64_t axis, Position &outer, UnitRange units,
                                             Store store) {
  int64_t laneAxis = outer.size();
  while (axis < laneAxis && llvm::is_contained(nest.rowAxes, axis))
    ++axis;
  if (axis == laneAxis)
    return emitBlocks(nest, outer, units, store);
  auto at = [&](Value base, UnitRange inside) {
    outer[axis] = {base, 0, nullptr};
    return emitBatches(nest, axis + 1, outer, inside, store);
  };
  if (emitter.distribution.hasUnitsInside(nest, axis))
    return emitter.distribution.overUnits(nest, axis, units, at);
  auto [lower, upper] = emitter.distribution.boundsOf(nest, axis, units);
  return emitter.emitLoop(lower, upper, indexConstant(1), [&](Value base) { return at(base, units); });
}

// Blocks of columns.
LogicalResult ContractionBlocks::emitBlocks(const Nest &nest, const Position &outer, UnitRange units,
                                            Store store) {
  int64_t laneAxis = outer.size(), known = nest.shape[laneAxis];
  Value columns = nest.sizes[laneAxis], zero = indexConstant(0);
  if (nest.columns == 0 || (!ShapedType::isDynamic(known) && known <= nest.columns))
    return emitBlock(nest, outer, {zero, columns}, units, store);
  Value width = indexConstant(nest.columns);
  auto from = [&](Value start, UnitRange inside) {
    Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(start, width), columns);
    return emitBlock(nest, outer, {start, end}, inside, store);
  };
  if (emitter.distribution.hasUnitsInside(nest, laneAxis))
    return emitter.distribution.overUnits(nest, laneAxis, units, [&](Value index, UnitRange inside) {
      return from(binary<arith::MulIOp>(index, width), inside);
    });
  auto [lower, upper] = emitter.distribution.boundsOf(nest, laneAxis, units);
  return emitter.emitLoop(lower, upper, width, [&](Value start) { return from(start, units); });
}

// Two forms for a dynamic K: with copies of operands, where it fits them, else with the operands in place.
LogicalResult ContractionBlocks::emitBlock(const Nest &nest, const Position &outer, Columns columns,
                                           UnitRange units, Store store) {
  int64_t known = nest.shape[outer.size()];
  bool oneBlock = nest.columns == 0 || (!ShapedType::isDynamic(known) && known <= nest.columns);
  SmallVector<PackedOperand> packed = emitter.packing.packedOperandsOf(nest, oneBlock ? known : nest.columns);
  Value fits = both(emitter.packing.fitsPanels(packed), emitter.byteDots.fitsCopies());
  if (!fits)
    return emitBlockWith(packed, nest, outer, columns, units, store);
  auto branch = scf::IfOp::create(builder, loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitBlockWith(packed, nest, outer, columns, units, store)))
    return failure();
  builder.setInsertionPointToStart(branch.elseBlock());
  llvm::erase_if(packed, [](PackedOperand &operand) { return operand.mayNotFit(); });
  llvm::SaveAndRestore products(emitter.byteDots.byteProducts);
  for (auto &[operation, product] : llvm::make_early_inc_range(emitter.byteDots.byteProducts))
    if (product.copiesDynamicK())
      emitter.byteDots.byteProducts.erase(operation); // computed like products of other types
  return emitBlockWith(packed, nest, outer, columns, units, store);
}

// All columns of a block pass over one tile of rows before the next: the rows stay in the first-level cache.
LogicalResult ContractionBlocks::emitBlockWith(SmallVector<PackedOperand> packed, const Nest &nest,
                                               const Position &outer, Columns columns, UnitRange units,
                                               Store store) {
  auto [start, end] = columns;
  auto [lower, upper] = emitter.distribution.boundsOf(nest, nest.rowAxes, units);
  CPUKernelEmitter::Scope scope(emitter);
  llvm::scope_exit forgetPacked([&] {
    emitter.packing.packedOperands.clear();
    emitter.byteDots.copiedRows.clear();
  });
  for (PackedOperand &operand : packed)
    operand.stride = emitter.packing.panelElements(operand);
  // The copies of rows come after the packed operands.
  bool fills = emitter.byteDots.scratchForRows(nest) == 0 &&
               llvm::any_of(packed, [&](PackedOperand &operand) { return emitter.packing.canFill(operand); });
  for (PackedOperand &operand : packed)
    if ((!fills || !emitter.packing.canFill(operand)) &&
        failed(emitter.packing.pack(operand, outer, start, end)))
      return failure();
  Value first = lower;
  if (fills) {
    FailureOr<Value> left =
        emitter.packing.emitFillingTile(nest, lower, upper, outer, columns, packed, store);
    if (failed(left))
      return failure();
    first = *left;
  }
  return emitter.byteDots.overRowChunks(nest, outer, first, upper, [&](Value from, Value to) {
    return emitRowTiles(nest, from, to, outer, [&](ArrayRef<Position> rows) {
      return emitter.nests.emitLaneLoop(nest, columns.first, columns.second, rows, store);
    });
  });
}

// The rows of whole tiles, and the rows of tiles that have one row less: 197 rows are 22 tiles of 8 rows and
// 3 of 7, which keep the CPU as busy. Null if tiles have few rows, or divide the rows.
std::pair<Value, Value> ContractionBlocks::evenTiles(const Nest &nest, int64_t size, Value count) {
  int64_t rows = nest.rows, less = rows - 1;
  if (rows < 4 || ShapedType::isDynamic(size) || size < rows * less || size % rows == 0)
    return {};
  Value wide = indexConstant(rows), narrow = indexConstant(less);
  Value rest = binary<arith::RemUIOp>(count, wide);
  Value missing = binary<arith::RemUIOp>(binary<arith::SubIOp>(wide, rest), wide);
  Value inNarrow = binary<arith::MulIOp>(missing, narrow);
  // A thread may have too few rows for this; then none are narrow.
  Value enough = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, inNarrow, count);
  inNarrow = builder.createOrFold<arith::SelectOp>(loc, enough, inNarrow, indexConstant(0));
  Value inWide = binary<arith::SubIOp>(count, inNarrow);
  return {binary<arith::SubIOp>(inWide, binary<arith::RemUIOp>(inWide, wide)), inNarrow};
}

// Tiles of rows; for the remainder the rows of a tile are halved, down to single rows.
LogicalResult ContractionBlocks::emitRowTiles(const Nest &nest, Value lower, Value upper,
                                              const Position &outer, Store inRows) {
  int64_t count = nest.rowCount();
  // A divisor of every row at which a tile begins.
  int64_t begins = std::gcd(nest.tileOfUnits, nest.rows);
  auto tiles = [&](int64_t rows, Value covered) {
    Value middle = binary<arith::AddIOp>(lower, covered);
    begins = std::gcd(begins, rows);
    LogicalResult result = emitter.emitLoop(lower, middle, indexConstant(rows), [&](Value base) {
      SmallVector<Position> extended;
      for (int64_t i = 0; i < rows; ++i)
        extended.push_back(rowPosition(nest, outer, base, i, begins));
      return inRows(extended);
    });
    lower = middle;
    return result;
  };
  auto [inWide, inNarrow] = evenTiles(nest, count, binary<arith::SubIOp>(upper, lower));
  if (inWide && (failed(tiles(nest.rows, inWide)) || failed(tiles(nest.rows - 1, inNarrow))))
    return failure();
  if (hasWholeTiles(count, nest.rows))
    return tiles(nest.rows, binary<arith::SubIOp>(upper, lower));
  for (int64_t rows = inWide ? llvm::bit_floor<uint64_t>(nest.rows - 1) : nest.rows; rows >= 1;
       rows = llvm::bit_floor<uint64_t>(rows - 1)) {
    Value step = indexConstant(rows);
    Value left = binary<arith::SubIOp>(upper, lower);
    if (failed(tiles(rows, binary<arith::MulIOp>(binary<arith::DivUIOp>(left, step), step))))
      return failure();
    if (rows == 1)
      break;
  }
  return success();
}
