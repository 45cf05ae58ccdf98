// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "IndexRange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

using KnownRange = std::optional<IndexRange>;

static unsigned widthOf(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
}

/// All signed numbers of the type.
static IndexRange allOf(Type type) {
  unsigned width = widthOf(type);
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

/// The range, if its numbers are numbers of the type; else arithmetic wraps.
static KnownRange within(KnownRange range, Type type) {
  IndexRange all = allOf(type);
  return range && range->low >= all.low && range->high <= all.high ? range : std::nullopt;
}

static KnownRange sumOf(IndexRange a, IndexRange b, bool subtracts) {
  IndexRange sum;
  bool overflows =
      subtracts ? llvm::SubOverflow(a.low, b.high, sum.low) || llvm::SubOverflow(a.high, b.low, sum.high)
                : llvm::AddOverflow(a.low, b.low, sum.low) || llvm::AddOverflow(a.high, b.high, sum.high);
  return overflows ? std::nullopt : KnownRange(sum);
}

static KnownRange productOf(IndexRange a, IndexRange b) {
  int64_t products[4];
  if (llvm::MulOverflow(a.low, b.low, products[0]) || llvm::MulOverflow(a.low, b.high, products[1]) ||
      llvm::MulOverflow(a.high, b.low, products[2]) || llvm::MulOverflow(a.high, b.high, products[3]))
    return std::nullopt;
  auto [low, high] = std::minmax_element(std::begin(products), std::end(products));
  return IndexRange{*low, *high};
}

/// Of numbers that are not negative, by a divisor that is a positive constant.
static KnownRange quotientOf(KnownRange a, KnownRange b) {
  bool isKnown = a && b && a->low >= 0 && b->low == b->high && b->low > 0;
  return isKnown ? KnownRange({a->low / b->low, a->high / b->low}) : std::nullopt;
}

/// The remainder is that of an unsigned number where the dividend may be negative only if `isUnsigned`.
static KnownRange remainderOf(KnownRange a, KnownRange b, bool isUnsigned) {
  if (!b || b->low != b->high || b->low <= 0)
    return std::nullopt;
  if (a && a->low >= 0)
    return IndexRange{0, std::min(a->high, b->low - 1)};
  return IndexRange{isUnsigned ? 0 : 1 - b->low, b->low - 1};
}

static KnownRange rangeOfBinary(Operation *op, KnownRange a, KnownRange b) {
  Type type = op->getResult(0).getType();
  bool areKnown = a && b, areNatural = areKnown && a->low >= 0 && b->low >= 0;
  return llvm::TypeSwitch<Operation *, KnownRange>(op)
      .Case([&](arith::AddIOp) { return areKnown ? within(sumOf(*a, *b, false), type) : std::nullopt; })
      .Case([&](arith::SubIOp) { return areKnown ? within(sumOf(*a, *b, true), type) : std::nullopt; })
      .Case([&](arith::MulIOp) { return areKnown ? within(productOf(*a, *b), type) : std::nullopt; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>([&](auto) { return quotientOf(a, b); })
      .Case([&](arith::RemSIOp) { return remainderOf(a, b, false); })
      .Case([&](arith::RemUIOp) { return remainderOf(a, b, true); })
      .Case([&](arith::MinSIOp) {
        IndexRange all = allOf(type), x = a.value_or(all), y = b.value_or(all);
        return KnownRange({std::min(x.low, y.low), std::min(x.high, y.high)});
      })
      .Case([&](arith::MaxSIOp) {
        IndexRange all = allOf(type), x = a.value_or(all), y = b.value_or(all);
        return KnownRange({std::max(x.low, y.low), std::max(x.high, y.high)});
      })
      .Case([&](arith::MinUIOp) -> KnownRange {
        if (areNatural)
          return IndexRange{std::min(a->low, b->low), std::min(a->high, b->high)};
        // As unsigned numbers, negative ones are the largest.
        KnownRange natural = a && a->low >= 0 ? a : b && b->low >= 0 ? b : std::nullopt;
        return natural ? KnownRange({0, natural->high}) : std::nullopt;
      })
      .Case([&](arith::MaxUIOp) {
        return areNatural ? KnownRange({std::max(a->low, b->low), std::max(a->high, b->high)}) : std::nullopt;
      })
      .Case([&](arith::AndIOp) -> KnownRange {
        KnownRange natural = a && a->low >= 0 ? a : b && b->low >= 0 ? b : std::nullopt;
        return natural ? KnownRange({0, natural->high}) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Operations on the way to an index that are looked through: each has up to two operands with such ways.
static constexpr int64_t kMaxDepth = 12;

static KnownRange unionOf(KnownRange a, KnownRange b) {
  return a && b ? KnownRange({std::min(a->low, b->low), std::max(a->high, b->high)}) : std::nullopt;
}

static KnownRange rangeOf(Value value, ArrayRef<int64_t> loops, int64_t depth) {
  Type type = value.getType();
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return IndexRange{*number, *number};
  if (!type.isIntOrIndex() || widthOf(type) > 64)
    return std::nullopt;
  KnownRange ofType = widthOf(type) < 64 ? KnownRange(allOf(type)) : std::nullopt;
  Operation *op = depth > 0 ? value.getDefiningOp() : nullptr;
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op)) {
    int64_t size = loops[index.getDim()];
    return ShapedType::isDynamic(size) ? std::nullopt : KnownRange({0, size - 1});
  }
  KnownRange range;
  if (isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    range = within(rangeOf(op->getOperand(0), loops, depth - 1), type);
  } else if (isa_and_nonnull<arith::IndexCastUIOp, arith::ExtUIOp>(op)) {
    range = rangeOf(op->getOperand(0), loops, depth - 1);
    unsigned width = widthOf(op->getOperand(0).getType());
    if ((!range || range->low < 0) && width < 63)
      range = IndexRange{0, llvm::maxIntN(width + 1)};
    range = range && range->low >= 0 ? within(range, type) : std::nullopt;
  } else if (auto choice = dyn_cast_or_null<arith::SelectOp>(op)) {
    range = unionOf(rangeOf(choice.getTrueValue(), loops, depth - 1),
                    rangeOf(choice.getFalseValue(), loops, depth - 1));
  } else if (op && isa<arith::ArithDialect>(op->getDialect()) && op->getNumOperands() == 2 &&
             op->getNumResults() == 1) {
    range = rangeOfBinary(op, rangeOf(op->getOperand(0), loops, depth - 1),
                          rangeOf(op->getOperand(1), loops, depth - 1));
  }
  return range ? range : ofType;
}

std::optional<IndexRange> ad::rangeOfIndex(Value value, ArrayRef<int64_t> loops) {
  return rangeOf(value, loops, kMaxDepth);
}
