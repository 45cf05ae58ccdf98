// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Whether the access maps of linalg operations stay inside their operands: linalg itself looks at the first
// and the last iteration only, between which floordiv and mod go elsewhere.

#include "VerifyAccess.h"
#include "adjoint/Dialect/AD/IR/PackedLayout.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
struct Interval {
  int64_t low, high;
};
} // namespace

static constexpr Interval kAnywhere = {std::numeric_limits<int64_t>::min(),
                                       std::numeric_limits<int64_t>::max()};

// The range of the expression over loops from 0 to these sizes; none if one of the sizes is dynamic.
static std::optional<Interval> intervalOf(AffineExpr expr, ArrayRef<int64_t> sizes) {
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
  // Too large for 64 bits is too large for any operand.
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

static bool divides(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    found |= part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::CeilDiv ||
             part.getKind() == AffineExprKind::Mod;
  });
  return found;
}

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
