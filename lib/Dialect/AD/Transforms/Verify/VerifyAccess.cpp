// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Whether the access maps of linalg operations stay inside their operands: linalg itself looks at the first
// and the last iteration only, between which floordiv and mod go elsewhere.

#include "VerifyAccess.h"
#include "IndexIntervals.h"
#include "adjoint/Dialect/AD/IR/PackedLayout.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ad;

template <class T> static std::string textOf(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static bool isPacked(AffineMap map, RankedTensorType type, ArrayRef<int64_t> sizes) {
  for (unsigned column = 0; column < sizes.size(); ++column)
    for (unsigned k = 0; k < sizes.size(); ++k)
      if (column != k && PackedLayout::match(map, type, sizes, column, k))
        return true;
  return false;
}

// Loops, each once, and zeros between them: linalg's own test allows no more results than there are loops.
static bool writesOnce(AffineMap map) {
  llvm::SmallBitVector seen(map.getNumDims());
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return expr == getAffineConstantExpr(0, expr.getContext());
    bool isNew = !seen.test(loop.getPosition());
    seen.set(loop.getPosition());
    return isNew;
  });
}

static LogicalResult verifyOperand(linalg::GenericOp op, OpOperand &operand, ArrayRef<int64_t> sizes) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || map.isProjectedPermutation())
    return success();
  unsigned number = operand.getOperandNumber();
  if (op.isDpsInit(&operand) && !writesOnce(map) && !isPacked(map, type, sizes))
    return op.emitOpError("expected the map of result ")
           << number - op.getNumDpsInputs() << " to be a projected permutation, or panels that its type has "
           << "room for, but got " << textOf(map);
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    std::optional<Interval> range = intervalOf(expr, sizes);
    bool known = range && !type.isDynamicDim(axis);
    if (known ? range->low < 0 || range->high >= type.getDimSize(axis) : divides(expr))
      return op.emitOpError("expected accesses inside operand ")
             << number << " of type " << type << ", but axis " << axis << " is read at " << textOf(expr)
             << (known ? "" : " along an unknown size");
  }
  return success();
}

LogicalResult ad::verifyAccess(linalg::GenericOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (llvm::is_contained(sizes, 0))
    return success();
  for (OpOperand &operand : op->getOpOperands())
    if (failed(verifyOperand(op, operand, sizes)))
      return failure();
  return success();
}
