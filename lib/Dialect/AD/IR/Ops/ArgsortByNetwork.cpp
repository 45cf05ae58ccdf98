// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A sorting network (K. E. Batcher, "Sorting networks and their applications", 1968, in the form whose
// comparisons all point the same way): sorted blocks of s elements are merged to blocks of 2 s. The first pass
// of a merge compares each element with the one at the mirrored place of the block of 2 s, the others compare
// elements at the distances s / 2, s / 4, …, 1. Every element becomes an integer that no other one is, of its
// key and its position, so that equal elements keep their order.

#include "Argsort.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
class SortingNetwork : StepBuilder {
public:
  SortingNetwork(OpBuilder &builder, Location loc, Value input);
  Value positions(bool descending);

private:
  Value keys(bool descending);
  SmallVector<Value> packed(Value keys);
  Value filled(Value values);
  SmallVector<Value> mergePasses(SmallVector<Value> items, Value level);
  SmallVector<Value> comparePass(ValueRange items, ArrayRef<OpFoldResult> shape, int64_t axis, Value half);

  /// Whether element by element the first items come before the second ones.
  Value comesBefore(ValueRange x, ValueRange y);
  Value integer(Type element, const APInt &value) {
    auto type = RankedTensorType::get({}, element);
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
  }
  Value wordOf(Value size) {
    Type word = builder.getI64Type();
    Value number = arith::IndexCastOp::create(builder, loc, word, size);
    return FullOp::create(builder, loc, RankedTensorType::get({}, word), number, ValueRange(), PermissionsAttr());
  }
  Value number(int64_t value) { return index(attr(value)); }
  template <typename OpT> Value ofSizes(Value x, Value y) { return OpT::create(builder, loc, x, y); }
  /// `body` gives new items, `count` times.
  SmallVector<Value> repeat(Value count, ValueRange items,
                            function_ref<SmallVector<Value>(SmallVector<Value>, Value)> body);

  Value input;
  SmallVector<OpFoldResult> sizes;
  /// Of the lines, of one line, and of one that is filled to a power of two.
  OpFoldResult lines, length, padded;
};
} // namespace

// The least power of two that is not below the size: all bits after the first one are set, and one is added.
static Value powerOfTwo(StepBuilder &steps, Value size) {
  OpBuilder &builder = steps.builder;
  auto number = [&](int64_t value) { return steps.index(steps.attr(value)); };
  Value least = arith::MaxUIOp::create(builder, steps.loc, size, number(1));
  Value bits = arith::SubIOp::create(builder, steps.loc, least, number(1));
  for (int64_t shift = 1; shift < 64; shift *= 2) {
    Value moved = arith::ShRUIOp::create(builder, steps.loc, bits, number(shift));
    bits = arith::OrIOp::create(builder, steps.loc, bits, moved);
  }
  return arith::AddIOp::create(builder, steps.loc, bits, number(1));
}

SortingNetwork::SortingNetwork(OpBuilder &builder, Location loc, Value input)
    : StepBuilder(builder, loc), input(input), sizes(sizesOf(input)) {
  lines = attr(1);
  for (OpFoldResult size : ArrayRef(sizes).drop_back())
    lines = mulSizes(builder, loc, lines, size);
  if (llvm::any_of(ArrayRef(sizes).drop_back(), llvm::IsaPred<Value>))
    lines = index(lines);
  length = sizes.back();
  if (auto open = dyn_cast<Value>(length))
    padded = powerOfTwo(*this, open);
  else
    padded = attr(static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(*getConstantIntValue(length), 1))));
}

// Integers in the order of the elements: a NaN is the largest one in both directions, -0 is +0.
Value SortingNetwork::keys(bool descending) {
  Type element = typeOf(input).getElementType();
  Value x = cast(input, computeType(element));
  auto type = dyn_cast<FloatType>(typeOf(x).getElementType());
  if (!type) {
    Value wide = element.isInteger(8) ? cast(x, builder.getI32Type()) : x;
    return descending ? unary<NotOp>(wide) : wide;
  }
  unsigned width = type.getWidth();
  Type word = builder.getIntegerType(width);
  APInt largest = APInt::getSignedMaxValue(width);
  Value isNaN = compare(ComparePredicate::ne, x, x);
  Value positive = binary<AddOp>(x, scalarConstant(builder, loc, type, 0.0));
  Value bits = BitcastOp::create(builder, loc, typeOf(x).clone(word), positive, PermissionsAttr());
  Value sign = binary<ShiftRightOp>(bits, integer(word, APInt(width, width - 1)));
  Value key = binary<XorOp>(bits, binary<AndOp>(sign, integer(word, largest)));
  key = descending ? unary<NotOp>(key) : key;
  return select(isNaN, integer(word, largest), key);
}

// Keys of up to 32 bits make one word with the position, other ones are two words.
SmallVector<Value> SortingNetwork::packed(Value keys) {
  Type word = builder.getI64Type();
  Value places = numbers(word, sizesOf(keys), 1);
  if (typeOf(keys).getElementType() == word)
    return {keys, places};
  Value high = binary<ShiftLeftOp>(cast(keys, word), integer(word, APInt(64, 32)));
  return {binary<OrOp>(high, places)};
}

// Lines of `padded` words, of which those after the elements are the largest.
Value SortingNetwork::filled(Value values) {
  if (padded == length)
    return values;
  auto [type, open] = shaped(builder.getI64Type(), {lines, padded});
  Value most = integer(builder.getI64Type(), APInt::getSignedMaxValue(64));
  Value all = BroadcastOp::create(builder, loc, type, most, open, PermissionsAttr());
  return DynamicUpdateSliceOp::create(builder, loc, all, values, ValueRange{number(0), number(0)},
                                      PermissionsAttr());
}

Value SortingNetwork::comesBefore(ValueRange x, ValueRange y) {
  Value before = compare(ComparePredicate::lt, x.back(), y.back());
  if (x.size() == 1)
    return before;
  Value same = compare(ComparePredicate::eq, x[0], y[0]);
  return binary<OrOp>(compare(ComparePredicate::lt, x[0], y[0]), binary<AndOp>(same, before));
}

// Along `axis` of the shape each element meets the one at the mirrored place: the one that comes first goes to
// the first half.
SmallVector<Value> SortingNetwork::comparePass(ValueRange items, ArrayRef<OpFoldResult> shape, int64_t axis,
                                               Value half) {
  SmallVector<Value> own, other;
  for (Value item : items) {
    own.push_back(reshaped(item, shape));
    other.push_back(ReverseOp::create(builder, loc, own.back(), ArrayRef<int64_t>(axis), PermissionsAttr()));
  }
  // Of the whole shape, so that one kernel does all.
  Value isFirst = compare(ComparePredicate::lt, numbers(builder.getI64Type(), shape, axis), half);
  Value moves = binary<XorOp>(comesBefore(own, other), isFirst);
  SmallVector<Value> next;
  for (auto [mine, mirrored] : llvm::zip_equal(own, other))
    next.push_back(reshaped(select(moves, mirrored, mine), {lines, padded}));
  return next;
}

SmallVector<Value> SortingNetwork::repeat(Value count, ValueRange items,
                                          function_ref<SmallVector<Value>(SmallVector<Value>, Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, number(0), count, number(1), items);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(builder, loc, body(llvm::to_vector_of<Value>(loop.getRegionIterArgs()),
                                          loop.getInductionVar()));
  return llvm::to_vector_of<Value>(loop.getResults());
}

// Merges sorted blocks of 2^level elements to blocks of twice as many.
SmallVector<Value> SortingNetwork::mergePasses(SmallVector<Value> items, Value level) {
  Value block = ofSizes<arith::ShLIOp>(number(1), level), both = ofSizes<arith::ShLIOp>(number(2), level);
  auto blocksOf = [&](Value size) -> OpFoldResult { return ofSizes<arith::DivUIOp>(index(padded), size); };
  items = comparePass(items, {lines, blocksOf(both), both}, 2, wordOf(block));
  return repeat(level, items, [&](SmallVector<Value> values, Value pass) {
    Value pair = ofSizes<arith::ShRUIOp>(block, pass), distance = ofSizes<arith::ShRUIOp>(pair, number(1));
    return comparePass(values, {lines, blocksOf(pair), attr(2), distance}, 2, wordOf(number(1)));
  });
}

// The logarithm of a power of two.
static Value logarithmOf(StepBuilder &steps, OpFoldResult power) {
  OpBuilder &builder = steps.builder;
  if (std::optional<int64_t> known = getConstantIntValue(power))
    return steps.index(steps.attr(llvm::Log2_64(*known)));
  Value one = steps.index(steps.attr(1)), zero = steps.index(steps.attr(0));
  auto loop = scf::WhileOp::create(
      builder, steps.loc, TypeRange(builder.getIndexType()), ValueRange(zero),
      [&](OpBuilder &, Location loc, ValueRange level) {
        Value size = arith::ShLIOp::create(builder, loc, one, level[0]);
        Value isSmall = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, size, steps.index(power));
        scf::ConditionOp::create(builder, loc, isSmall, level);
      },
      [&](OpBuilder &, Location loc, ValueRange level) {
        scf::YieldOp::create(builder, loc, arith::AddIOp::create(builder, loc, level[0], one).getResult());
      });
  return loop.getResult(0);
}

Value SortingNetwork::positions(bool descending) {
  SmallVector<Value> items;
  for (Value item : packed(reshaped(keys(descending), {lines, length})))
    items.push_back(filled(item));
  Value levels = logarithmOf(*this, padded);
  auto merge = [&](SmallVector<Value> values, Value level) { return mergePasses(std::move(values), level); };
  Value last = repeat(levels, items, merge).back();
  if (items.size() == 1)
    last = binary<AndOp>(last, integer(builder.getI64Type(), APInt::getLowBitsSet(64, 32)));
  auto [type, open] = shaped(builder.getI64Type(), {lines, length});
  constexpr int64_t kZeros[] = {0, 0}, kOnes[] = {1, 1};
  Value first = SliceOp::create(builder, loc, type, last, kZeros, kOnes, open, PermissionsAttr());
  return reshaped(first, sizes);
}

Value ad::positionsByNetwork(OpBuilder &builder, Location loc, Value input, bool descending) {
  return SortingNetwork(builder, loc, input).positions(descending);
}
