// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PaddedRows.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;

// The kernel has as many zeros on the stack as the last axis has elements.
static constexpr int64_t kMaxBytesOfRow = 16 * 1024;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool ad::padsRows(Operation *op) {
  auto pad = dyn_cast<PadOp>(op);
  if (!pad)
    return false;
  RankedTensorType type = typeOf(pad.getInput());
  auto isZero = [](int64_t count) { return count == 0; };
  bool isWide = type.getElementType().isF32() || type.getElementType().isF64();
  if (!isWide || type.getRank() == 0 || !type.hasStaticShape() || type.getNumElements() == 0 ||
      !llvm::all_of(pad.getInterior(), isZero) || pad.getLow().back() != 0 || pad.getHigh().back() != 0 ||
      type.getShape().back() * type.getElementTypeBitWidth() > 8 * kMaxBytesOfRow)
    return false;
  return matchPattern(pad.getValue(), m_PosZeroFloat());
}

bool ad::isPartOfRows(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  auto isOne = [](int64_t stride) { return stride == 1; };
  return slice && llvm::all_of(slice.getStrides(), isOne) && typeOf(slice.getResult()).hasStaticShape() &&
         typeOf(slice.getResult()).getShape().back() == typeOf(slice.getInput()).getShape().back();
}
