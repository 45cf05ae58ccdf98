// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "IndexExpressions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad::reference;

// Unsigned numbers wrap by definition.
static int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
static int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

std::optional<int64_t> mlir::ad::reference::evaluateIndex(AffineExpr expr, ArrayRef<int64_t> dims,
                                                          ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto pair = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = evaluateIndex(pair.getLHS(), dims, symbols),
                         rhs = evaluateIndex(pair.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return add(*lhs, *rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return multiply(*lhs, *rhs);
  if (*rhs < 1)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return llvm::divideFloorSigned(*lhs, *rhs);
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return llvm::divideCeilSigned(*lhs, *rhs);
  return llvm::mod(*lhs, *rhs);
}

bool mlir::ad::reference::isInside(int64_t first, int64_t size, int64_t step, int64_t have, int64_t &last) {
  int64_t distance = 0;
  bool wraps = llvm::MulOverflow(size - 1, step, distance);
  wraps |= llvm::AddOverflow(first, distance, last) != 0;
  if (wraps)
    last = step < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  return !wraps && first >= 0 && first < have && last >= 0 && last < have;
}
