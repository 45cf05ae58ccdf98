// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands of contractions in the order in which tiles read them: for a block of columns, panels as wide as a
// tile, each with K as the outer and the columns as the inner axis. OperandsToPack.cpp chooses the operands.

#include "OperandPacking.h"
#include "../Movement/VectorShuffles.h"
#include "adjoint/Codegen/Kernel/Contractions.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Rows that are packed column by column; each has a stream of its own for the hardware's prefetcher.
static constexpr int64_t kPackedRows = 8;

FailureOr<Value> OperandPacking::loadElements(const PackedOperand &packed, const Buffer &buffer,
                                              const Position &position) {
  if (buffer.pointer)
    return memoryAccess.load(buffer, position);
  if (packed.isTransposed() && packed.group == kBF16DotProduct.group)
    return dotProducts.convertPairs(packed.operand, position);
  Scope scope(context);
  FailureOr<Value> value = evaluator.evaluateOne(packed.operand->get(), position);
  if (failed(value))
    return failure();
  return laneValues.splat(*value, lanes); // constants are scalars
}

LogicalResult OperandPacking::pack(PackedOperand &packed, const Position &outer, Value start, Value end) {
  packed.start = packed.prepacked ? indexConstant(0) : start;
  packed.filling = packed.inPlace;
  panels.operands[packed.operand] = packed;
  if (packed.prepacked || packed.inPlace)
    return success();
  return fillPanels(packed, panels.elementsOf(packed), outer, start, end);
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
    bytePanels.fillBytePanels(packed, buffer, outer, start, end);
    return success();
  }
  return packed.isTransposed() ? fillTransposed(packed, buffer, outer, start, end)
                               : fillStraight(packed, buffer, outer, start, end);
}

LogicalResult OperandPacking::fillTransposed(const PackedOperand &packed, const Buffer &buffer,
                                             const Position &outer, Value start, Value end) {
  auto overColumns = [&](Value column) -> LogicalResult {
    auto overK = [&](Value indexK) -> LogicalResult {
      WithLanes vectorCode(context, vectorLanes, nullptr);
      return packTransposed(packed, buffer, outer, indexK, column, end);
    };
    return emitLoop(indexConstant(0), groupsOfK(packed, buffer), indexConstant(vectorLanes), overK);
  };
  return emitLoop(start, end, indexConstant(vectorLanes), overColumns);
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
        WithLanes vectorCode(context, vectorLanes, nullptr);
        return packStraight(packed, buffer, outer, indexK, column, end);
      };
      return emitLoop(first, last, indexConstant(1), overK);
    };
    return emitLoop(start, end, indexConstant(vectorLanes), overColumns);
  };
  return emitLoop(indexConstant(0), count, block, overBlocks);
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
    packed.stride = panels.panelElements(packed);
    return packed;
  }
  return std::nullopt;
}

LogicalResult OperandPacking::emitPacking(const PackedOperand &packed) {
  // A unit is a panel.
  CPUNest nest = kernelOutputs.nestOver(results.front(), {});
  nest.units = distribution.unitsOfCall;
  if (!distribution.isTooShort())
    nest.unitLoops = {{{0}, 1}};
  distribution.declareUnits({{0, nest.unitLoops}});
  const Buffer &buffer = buffers.find(packed.operand->get())->second;
  auto [lower, upper] = distribution.boundsOf(nest, 0, nest.units);
  Value tile = indexConstant(packed.tile), columns = buffer.sizes[packed.columnAxis];
  return fillPanels(packed, buffer, {}, binary<arith::MulIOp>(lower, tile),
                    binary<arith::MinUIOp>(binary<arith::MulIOp>(upper, tile), columns));
}

static void storePacked(OpBuilder &builder, Location loc, Value pointer, Value value, Type memory) {
  LLVM::StoreOp::create(builder, loc, value, pointer, memory.getIntOrFloatBitWidth() / 8);
}

LogicalResult OperandPacking::packStraight(const PackedOperand &packed, const Buffer &buffer,
                                           const Position &outer, Value indexK, Value column, Value end) {
  bool isWhole = hasWholeVectors(buffer.shape[packed.columnAxis], lanes);
  mask = isWhole ? Value() : laneValues.lanesBelow(binary<arith::SubIOp>(end, column));
  auto row = [&](Value at) {
    return loadElements(packed, buffer,
                        panels.operandPosition(packed, outer, {at, 0, nullptr}, {column, 1, nullptr}));
  };
  Value value;
  if (packed.group == kBF16DotProduct.group) {
    Value first = binary<arith::MulIOp>(indexK, indexConstant(packed.group));
    FailureOr<Value> low = row(first), high = row(binary<arith::AddIOp>(first, indexConstant(1)));
    if (failed(low) || failed(high))
      return failure();
    value = dotProducts.joinPair(*low, *high);
  } else {
    FailureOr<Value> loaded = row(indexK);
    if (failed(loaded))
      return failure();
    value = toMemory(*loaded);
  }
  mask = nullptr;
  storePacked(builder, loc, panels.pointerToPacked(packed, indexK, column), value, packed.memory);
  return success();
}

// A square block: one vector along K for each of as many columns as there are lanes, transposed in registers.
// Columns past the last one repeat it; the padding of K is zero and never read.
LogicalResult OperandPacking::packTransposed(const PackedOperand &packed, Buffer buffer,
                                             const Position &outer, Value indexK, Value column, Value end) {
  if (packed.group == kBF16DotProduct.group)
    buffer = dotProducts.inPairs(buffer);
  bool wholeK = hasWholeVectors(buffer.shape[packed.axisK], lanes);
  bool wholeColumns = hasWholeVectors(buffer.shape[packed.columnAxis], lanes);
  mask = wholeK ? Value() : laneValues.lanesBelow(binary<arith::SubIOp>(buffer.sizes[packed.axisK], indexK));
  Value last = binary<arith::SubIOp>(end, indexConstant(1));
  SmallVector<Value> rows;
  for (int64_t i = 0; i < lanes; ++i) {
    Value at = binary<arith::AddIOp>(column, indexConstant(i));
    if (!wholeColumns)
      at = binary<arith::MinUIOp>(at, last);
    FailureOr<Value> row = loadElements(
        packed, buffer, panels.operandPosition(packed, outer, {indexK, 1, nullptr}, {at, 0, nullptr}));
    if (failed(row))
      return failure();
    rows.push_back(toMemory(*row));
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
    storePacked(builder, loc, panels.pointerToPacked(packed, at, column), rows[i], packed.memory);
  }
  return success();
}
