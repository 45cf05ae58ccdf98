// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions and other reductions into every point of a result: tiles of rows and vectors stay in registers
// over the whole reduction, in an order that keeps the operands in the caches.

#include "ContractionBlocks.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Loops over the batch axes, then blocks of all rows.
LogicalResult ContractionBlocks::emitBatches(const CPUNest &nest, int64_t axis, Position &outer,
                                             UnitRange units, Store store) {
  int64_t laneAxis = outer.size();
  while (axis < laneAxis && llvm::is_contained(nest.rowAxes, axis))
    ++axis;
  if (axis == laneAxis)
    return emitBlocks(nest, outer, units, store);
  auto at = [&](Value base, UnitRange inside) {
    outer[axis] = {base, 0, nullptr};
    return emitBatches(nest, axis + 1, outer, inside, store);
  };
  if (distribution.hasUnitsInside(nest, axis))
    return distribution.overUnits(nest, axis, units, at);
  auto [lower, upper] = distribution.boundsOf(nest, axis, units);
  return emitLoop(lower, upper, indexConstant(1), [&](Value base) { return at(base, units); });
}

// Blocks of columns.
LogicalResult ContractionBlocks::emitBlocks(const CPUNest &nest, const Position &outer, UnitRange units,
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
  if (distribution.hasUnitsInside(nest, laneAxis))
    return distribution.overUnits(nest, laneAxis, units, [&](Value index, UnitRange inside) {
      return from(binary<arith::MulIOp>(index, width), inside);
    });
  auto [lower, upper] = distribution.boundsOf(nest, laneAxis, units);
  return emitLoop(lower, upper, width, [&](Value start) { return from(start, units); });
}

// Two forms for a dynamic K: with copies of operands, where it fits them, else with the operands in place.
LogicalResult ContractionBlocks::emitBlock(const CPUNest &nest, const Position &outer, Columns columns,
                                           UnitRange units, Store store) {
  int64_t known = nest.shape[outer.size()];
  bool oneBlock = nest.columns == 0 || (!ShapedType::isDynamic(known) && known <= nest.columns);
  SmallVector<PackedOperand> packed = operandsToPack.packedOperandsOf(nest, oneBlock ? known : nest.columns);
  Value fits = both(panels.fitsPanels(packed), byteProducts.fitsCopies());
  if (!fits)
    return emitBlockWith(packed, nest, outer, columns, units, store);
  auto branch = scf::IfOp::create(builder, loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitBlockWith(packed, nest, outer, columns, units, store)))
    return failure();
  builder.setInsertionPointToStart(branch.elseBlock());
  llvm::erase_if(packed, [](PackedOperand &operand) { return operand.mayNotFit(); });
  llvm::SaveAndRestore products(byteProducts.chosen);
  for (auto &[operation, product] : llvm::make_early_inc_range(byteProducts.chosen))
    if (product.copiesDynamicK())
      byteProducts.chosen.erase(operation); // computed like products of other types
  return emitBlockWith(packed, nest, outer, columns, units, store);
}

// All columns of a block pass over one tile of rows before the next: the rows stay in the first-level cache.
LogicalResult ContractionBlocks::emitBlockWith(SmallVector<PackedOperand> packed, const CPUNest &nest,
                                               const Position &outer, Columns columns, UnitRange units,
                                               Store store) {
  auto [start, end] = columns;
  auto [lower, upper] = distribution.boundsOf(nest, nest.rowAxes, units);
  Scope scope(context);
  llvm::scope_exit forgetPacked([&] {
    panels.operands.clear();
    byteRowCopies.copied.clear();
  });
  for (PackedOperand &operand : packed)
    operand.stride = panels.panelElements(operand);
  // The copies of rows come after the packed operands.
  bool fills = byteProducts.scratchForRows(nest) == 0 &&
               llvm::any_of(packed, [&](PackedOperand &operand) { return panels.canFill(operand); });
  for (PackedOperand &operand : packed)
    if ((!fills || !panels.canFill(operand)) && failed(operandPacking.pack(operand, outer, start, end)))
      return failure();
  Value first = lower;
  if (fills) {
    FailureOr<Value> left = fillingTile.emitFillingTile(nest, lower, upper, outer, columns, packed, store);
    if (failed(left))
      return failure();
    first = *left;
  }
  return byteRowCopies.overRowChunks(nest, outer, first, upper, [&](Value from, Value to) {
    return rowTiles.emitRowTiles(nest, from, to, outer, [&](ArrayRef<Position> rows) {
      return rowPanels.withCopies(nest, outer, rows, [&] {
        return laneLoop.emitLaneLoop(nest, columns.first, columns.second, rows, store);
      });
    });
  });
}
