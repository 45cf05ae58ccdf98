// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The decomposition of ad.argsort: the rank of an element is the number of those that come before it, and its
// position is written where its rank says. It compares every element of a row with every other one.

#include "StepBuilder.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// Ranks along the last axis.
class Ranks : StepBuilder {
public:
  Ranks(OpBuilder &builder, Location loc, Value input)
      : StepBuilder(builder, loc), input(input), rank(typeOf(input).getRank()) {
    for (int64_t axis = 0; axis < rank; ++axis)
      sizes.push_back(sizeOf(builder, loc, input, axis));
    sizes = normalizeSizes(builder, loc, typeOf(input), sizes); // the result has the input's open sizes
    // Row i, column j: element i is compared with element j.
    squareSizes = sizes;
    squareSizes.push_back(sizes.back());
  }

  Value build(bool descending) {
    Value mine = compared(rank), other = compared(rank - 1);
    Value isBefore = comesBefore(other, mine, descending), isAfter = comesBefore(mine, other, descending);
    Value isEarlier = compare(ComparePredicate::lt, numbersAlong(rank), numbersAlong(rank - 1));
    Value isNotAfter = NotOp::create(builder, loc, isAfter, PermissionsAttr());
    Value counts = binary<OrOp>(isBefore, binary<AndOp>(isNotAfter, isEarlier));
    Value ones = cast(counts, builder.getI64Type());
    return ReduceSumOp::create(builder, loc, ones, ArrayRef<int64_t>{rank}, /*keepDims=*/false);
  }

  /// The index along the last axis of each element.
  Value positions() { return numbers(builder.getI64Type(), sizes, rank - 1); }

private:
  /// The input, repeated along that axis of the square.
  Value compared(int64_t axis) {
    SmallVector<OpFoldResult> column = sizes;
    column.insert(column.begin() + axis, attr(1));
    return repeated(reshaped(input, column), squareSizes);
  }

  Value numbersAlong(int64_t axis) { return numbers(builder.getI64Type(), squareSizes, axis); }

  /// A NaN comes after all numbers, and is like every other one.
  Value comesBefore(Value x, Value y, bool descending) {
    Value before = compare(descending ? ComparePredicate::gt : ComparePredicate::lt, x, y);
    if (!isa<FloatType>(typeOf(input).getElementType()))
      return before;
    Value isNumber = compare(ComparePredicate::eq, x, x), isNaN = compare(ComparePredicate::ne, y, y);
    return binary<OrOp>(before, binary<AndOp>(isNumber, isNaN));
  }

  Value input;
  int64_t rank;
  SmallVector<OpFoldResult> sizes, squareSizes;
};
} // namespace

// Rows from which on so many comparisons are worth a remark.
static constexpr int64_t kLongAxis = 1 << 12;

static void reportLongAxis(ArgsortOp op) {
  int64_t size = op.getInput().getType().getDimSize(op.getAxis());
  if (ShapedType::isDynamic(size) || size >= kLongAxis)
    remark::missed(op.getLoc(), remark::RemarkOpts::name("argsort-by-ranks").category("ad-gpu"))
        << remark::metric("axis", ShapedType::isDynamic(size) ? "?" : std::to_string(size))
        << remark::metric("reason", "each element is compared with all others");
}

static Value transposed(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> permutation) {
  return TransposeOp::create(builder, loc, input, permutation, PermissionsAttr());
}

FailureOr<SmallVector<Value>> ArgsortOp::decompose(OpBuilder &builder) {
  Location loc = rememberWritten(*this);
  int64_t last = getInput().getType().getRank() - 1;
  if (static_cast<int64_t>(getAxis()) != last) {
    SmallVector<int64_t> swap = llvm::to_vector(llvm::seq<int64_t>(0, last + 1));
    std::swap(swap[getAxis()], swap[last]);
    Value rows = transposed(builder, loc, getInput(), swap);
    Value sorted = ArgsortOp::create(builder, loc, rows, last, getDescending(), PermissionsAttr());
    return SmallVector<Value>{transposed(builder, loc, sorted, swap)};
  }
  reportLongAxis(*this);
  Ranks ranks(builder, loc, getInput());
  Value positions = ranks.positions();
  Value result = setAlong(builder, loc, zerosLike(builder, loc, positions), ranks.build(getDescending()),
                          positions, last);
  return SmallVector<Value>{result};
}
