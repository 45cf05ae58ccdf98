// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The first tile of rows of a block packs the operands while it computes.

#include "FillingTile.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Whether fewer rows than a tile read the operands in place, as for that static number.
static bool readsFewInPlace(const CPUNest &nest) {
  return ShapedType::isDynamic(nest.rowCount()) && nest.rows > 1;
}

// The first tile of rows packs while it computes, if there is a whole tile: memory limits it, not FMAs.
// Returns the first row that is left.
FailureOr<Value> FillingTile::emitFillingTile(const CPUNest &nest, Value lower, Value upper,
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
LogicalResult FillingTile::packOrReadInPlace(const CPUNest &nest, Value lower, Value upper,
                                             const Position &outer, std::pair<Value, Value> columns,
                                             MutableArrayRef<PackedOperand> packed, Store store) {
  bool inPlace = readsFewInPlace(nest);
  for (PackedOperand &operand :
       llvm::make_filter_range(packed, [&](auto &each) { return panels.canFill(each); })) {
    operand.inPlace = inPlace;
    if (failed(operandPacking.pack(operand, outer, columns.first, columns.second)))
      return failure();
    operand.inPlace = false;
  }
  if (!inPlace)
    return success();
  Scope few(context);
  CPUNest less = nest;
  less.rows = llvm::bit_floor<uint64_t>(nest.rows - 1);
  return rowTiles.emitRowTiles(less, lower, upper, outer, [&](ArrayRef<Position> rows) {
    less.vectors = blockShape.vectorsFor(nest, rows.size());
    return laneLoop.emitLaneLoop(less, columns.first, columns.second, rows, store);
  });
}

// The tile that begins at `row`: each operand is read in place, and stored where it is packed.
LogicalResult FillingTile::fillWhileComputing(const CPUNest &nest, Value row, const Position &outer,
                                              std::pair<Value, Value> columns,
                                              MutableArrayRef<PackedOperand> packed, Store store) {
  for (PackedOperand &operand : packed) {
    operand.filling = operand.inPlace || panels.canFill(operand);
    panels.operands[operand.operand] = operand;
  }
  SmallVector<Position> tile;
  for (int64_t i = 0; i < nest.rows; ++i)
    tile.push_back(rowTiles.rowPosition(nest, outer, row, i, /*aligned=*/1));
  Scope scope(context);
  if (failed(laneLoop.emitLaneLoop(nest, columns.first, columns.second, tile, store)))
    return failure();
  for (PackedOperand &operand : packed)
    panels.operands[operand.operand].filling = operand.inPlace;
  return success();
}
