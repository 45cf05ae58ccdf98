// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "IndexIntervals.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr Interval kAnywhere = {std::numeric_limits<int64_t>::min(),
                                       std::numeric_limits<int64_t>::max()};

std::optional<Interval> ad::intervalOf(AffineExpr expr, ArrayRef<int64_t> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Interval{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t size = sizes[dim.getPosition()];
    return ShapedType::isDynamic(size) ? std::nullopt : std::optional(Interval{0, size - 1});
  }
  auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!pair)
    return std::nullopt;
  std::optional<Interval> lhs = intervalOf(pair.getLHS(), sizes), rhs = intervalOf(pair.getRHS(), sizes);
  if (!lhs || !rhs)
    return std::nullopt;
  // What 64 bits cannot hold wraps, and may be any number.
  Interval sum, product;
  bool tooLarge =
      llvm::AddOverflow(lhs->low, rhs->low, sum.low) || llvm::AddOverflow(lhs->high, rhs->high, sum.high);
  if (expr.getKind() == AffineExprKind::Add)
    return tooLarge ? kAnywhere : sum;
  int64_t factor = rhs->low; // a constant is on the right
  tooLarge =
      llvm::MulOverflow(lhs->low, factor, product.low) || llvm::MulOverflow(lhs->high, factor, product.high);
  if (expr.getKind() == AffineExprKind::Mul && factor < 0)
    std::swap(product.low, product.high);
  if (expr.getKind() == AffineExprKind::Mul)
    return tooLarge ? kAnywhere : product;
  if (factor < 1 || lhs->low < 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Interval{lhs->low / factor, lhs->high / factor};
  if (expr.getKind() == AffineExprKind::Mod)
    return Interval{0, std::min(lhs->high, factor - 1)};
  return std::nullopt;
}

bool ad::divides(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    found |= part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::CeilDiv ||
             part.getKind() == AffineExprKind::Mod;
  });
  return found;
}
