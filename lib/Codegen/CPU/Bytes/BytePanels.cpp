// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Panels of groups of four i8 for tiles of columns.

#include "BytePanels.h"
#include "../Movement/VectorShuffles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Panels of groups for tiles of columns.
void BytePanels::fillBytePanels(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                                Value start, Value end) {
  Value sizeK = buffer.sizes[packed.axisK];
  Value whole = binary<arith::DivUIOp>(sizeK, indexConstant(kBytesPerLane));
  bool wholeColumns = hasWholeVectors(buffer.shape[packed.columnAxis], vectorLanes);
  auto overColumns = [&](Value column) -> LogicalResult {
    WithLanes vectorCode(context, vectorLanes, nullptr);
    Value active = wholeColumns ? Value() : laneValues.lanesBelow(binary<arith::SubIOp>(end, column));
    auto packGroup = [&](Value number) -> LogicalResult {
      mask = active;
      Value group = byteGroups.groupAt(
          buffer, panels.operandPosition(packed, outer, {number, 0, nullptr}, {column, 1, nullptr}),
          packed.axisK);
      mask = nullptr;
      storeGroup(packed, number, column, laneValues.splat(group, lanes));
      return success();
    };
    if (packed.isTransposed())
      packBytesTransposed(packed, buffer, outer, column, end);
    else
      (void)emitLoop(indexConstant(0), whole, indexConstant(1), packGroup);
    SmallVector<Value> none;
    return byteGroups.overPartialGroup(sizeK, none, [&] { return packGroup(whole); });
  };
  (void)emitLoop(start, end, indexConstant(vectorLanes), overColumns);
}

void BytePanels::storeGroup(const PackedOperand &packed, Value number, Value column, Value group) {
  LLVM::StoreOp::create(builder, loc, packed.biased ? byteGroups.biasBytes(group) : group,
                        panels.pointerToPacked(packed, number, column), kBytesPerLane);
}

// Square blocks of whole groups, transposed in registers. Columns past the last one repeat it.
void BytePanels::packBytesTransposed(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                                     Value column, Value end) {
  Value groups = binary<arith::DivUIOp>(buffer.sizes[packed.axisK], indexConstant(kBytesPerLane));
  Value rest = binary<arith::RemUIOp>(groups, indexConstant(lanes));
  Value middle = binary<arith::SubIOp>(groups, rest);
  bool wholeColumns = hasWholeVectors(buffer.shape[packed.columnAxis], lanes);
  Value last = binary<arith::SubIOp>(end, indexConstant(1));
  // `count` groups are stored, those that `active` says are loaded.
  auto block = [&](Value number, int64_t count, Value active) -> LogicalResult {
    mask = active;
    SmallVector<Value> rows;
    for (int64_t i = 0; i < lanes; ++i) {
      Value at = binary<arith::AddIOp>(column, indexConstant(i));
      at = wholeColumns ? at : binary<arith::MinUIOp>(at, last);
      rows.push_back(byteGroups.groupAt(
          buffer, panels.operandPosition(packed, outer, {number, 1, nullptr}, {at, 0, nullptr}),
          packed.axisK));
    }
    mask = nullptr;
    transposeInRegisters(builder, loc, rows);
    for (int64_t i = 0; i < count; ++i)
      storeGroup(packed, binary<arith::AddIOp>(number, indexConstant(i)), column, rows[i]);
    return success();
  };
  (void)emitLoop(indexConstant(0), middle, indexConstant(lanes),
                 [&](Value number) { return block(number, lanes, nullptr); });
  // Panels end with whole vectors of groups.
  int64_t stored = constantOf(rest).value_or(lanes);
  (void)emitLoop(middle, groups, indexConstant(lanes),
                 [&](Value number) { return block(number, stored, laneValues.lanesBelow(rest)); });
}
