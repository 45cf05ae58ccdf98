// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad.argsort by ranks: the rank of an element is the number of those that come before it, and its
// position is written where its rank says. It compares every element of a row with every other one.

#include "Argsort.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

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

Value ad::positionsByRanks(OpBuilder &builder, Location loc, Value input, bool descending) {
  Ranks ranks(builder, loc, input);
  Value positions = ranks.positions();
  return setAlong(builder, loc, zerosLike(builder, loc, positions), ranks.build(descending), positions,
                  typeOf(input).getRank() - 1);
}
