// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A bitonic sorting network (K. E. Batcher, "Sorting networks and their applications", 1968): level k makes
// sorted blocks of 2^k elements, every other one descending, and compares elements at the distances 2^(k-1),
// …, 2, 1 for that. A pass over all elements does three distances where it can. Every element becomes an
// integer that no other one is, of its key and its position, so that equal elements keep their order.

#include "Argsort.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// The distances of a pass.
static constexpr int64_t kDistances = 3;

namespace {
class SortingNetwork : StepBuilder {
public:
  /// Of each item the elements at some places.
  using Part = SmallVector<Value, 2>;

  SortingNetwork(OpBuilder &builder, Location loc, Value input);
  Value positions(bool descending);

private:
  Value keys(bool descending);
  SmallVector<Value> packed(Value keys);
  Value filled(Value values);
  SmallVector<Value> sortBlocks(SmallVector<Value> items, Value level);
  SmallVector<Value> sortKnownBlocks(SmallVector<Value> items, Value level, int64_t levels);
  using Step = function_ref<SmallVector<Value>(ValueRange)>;
  /// `step` of the items if the level is above the number, else `otherwise`, or the items.
  SmallVector<Value> ifAbove(Value level, int64_t number, ValueRange items, Step step, Step otherwise = {});
  SmallVector<OpFoldResult> blocksOf(OpFoldResult last, int64_t count);
  SmallVector<Value> comparePass(ValueRange items, Value level, OpFoldResult last, int64_t kinds);
  Value partOf(Value blocks, int64_t number, ArrayRef<OpFoldResult> shape);
  void exchange(Part &x, Part &y, Value descends);

  /// Whether element by element the first items come before the second ones.
  Value comesBefore(ValueRange x, ValueRange y);
  Value integer(Type element, const APInt &value) {
    auto type = RankedTensorType::get({}, element);
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
  }
  Value wordOf(Value size) {
    Type word = builder.getI64Type();
    Value number = arith::IndexCastOp::create(builder, loc, word, size);
    return FullOp::create(builder, loc, RankedTensorType::get({}, word), number, ValueRange(),
                          PermissionsAttr());
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
    padded =
        attr(static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(*getConstantIntValue(length), 1))));
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

// Exchanges the items of two parts where they are out of order; every part has the same space.
void SortingNetwork::exchange(Part &x, Part &y, Value descends) {
  Value moves = binary<XorOp>(comesBefore(y, x), descends);
  for (auto [first, second] : llvm::zip_equal(x, y)) {
    Value lower = select(moves, second, first);
    second = select(moves, first, second);
    first = lower;
  }
}

// The line as blocks of `count` parts, each of which has 2^last elements.
SmallVector<OpFoldResult> SortingNetwork::blocksOf(OpFoldResult last, int64_t count) {
  std::optional<int64_t> knownLast = getConstantIntValue(last), knownSize = getConstantIntValue(padded);
  if (knownLast && knownSize)
    return {lines, attr(*knownSize / (count << *knownLast)), attr(count), attr(int64_t(1) << *knownLast)};
  Value distance = ofSizes<arith::ShLIOp>(number(1), index(last));
  Value block = ofSizes<arith::ShLIOp>(number(count), index(last));
  return {lines, ofSizes<arith::DivUIOp>(index(padded), block), attr(count), distance};
}

// One pass of a level: the distances 2^(last + kinds - 1), …, 2^last. Elements that meet are in one of
// 2^kinds parts of each block.
SmallVector<Value> SortingNetwork::comparePass(ValueRange items, Value level, OpFoldResult last,
                                               int64_t kinds) {
  int64_t count = int64_t(1) << kinds;
  SmallVector<OpFoldResult> whole = blocksOf(last, count), shape = whole;
  shape[2] = attr(1);
  // A number of a block has the number of the sorted block that it is a part of in its upper bits.
  Value shift = wordOf(ofSizes<arith::SubIOp>(level, ofSizes<arith::AddIOp>(index(last), number(kinds))));
  Value sortedBlock = binary<ShiftRightOp>(numbers(builder.getI64Type(), shape, 1), shift);
  Value odd = binary<AndOp>(sortedBlock, integer(builder.getI64Type(), APInt(64, 1)));
  Value descends = compare(ComparePredicate::ne, odd, integer(builder.getI64Type(), APInt(64, 0)));

  SmallVector<Part> parts;
  for (int64_t number = 0; number < count; ++number)
    parts.push_back(llvm::map_to_vector<2>(
        items, [&](Value item) { return partOf(reshaped(item, whole), number, shape); }));
  for (int64_t apart = count / 2; apart > 0; apart /= 2)
    for (int64_t number = 0; number < count; ++number)
      if (number / apart % 2 == 0)
        exchange(parts[number], parts[number + apart], descends);
  SmallVector<Value> next;
  for (size_t item = 0; item < items.size(); ++item) {
    auto pieces = llvm::map_to_vector(parts, [&](const Part &part) { return part[item]; });
    Value joined = ConcatOp::create(builder, loc, pieces, uint64_t(2), PermissionsAttr());
    next.push_back(reshaped(joined, {lines, padded}));
  }
  return next;
}

Value SortingNetwork::partOf(Value blocks, int64_t number, ArrayRef<OpFoldResult> shape) {
  auto [type, open] = shaped(builder.getI64Type(), shape);
  const int64_t offsets[] = {0, 0, number, 0}, strides[] = {1, 1, 1, 1};
  return SliceOp::create(builder, loc, type, blocks, offsets, strides, open, PermissionsAttr());
}

SmallVector<Value> SortingNetwork::repeat(Value count, ValueRange items,
                                          function_ref<SmallVector<Value>(SmallVector<Value>, Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, number(0), count, number(1), items);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(builder, loc,
                       body(llvm::to_vector_of<Value>(loop.getRegionIterArgs()), loop.getInductionVar()));
  return llvm::to_vector_of<Value>(loop.getResults());
}

// Makes sorted blocks of 2^level elements: distances by themselves until those that are left are a multiple
// of those of one pass.
SmallVector<Value> SortingNetwork::sortBlocks(SmallVector<Value> items, Value level) {
  Value single = ofSizes<arith::RemUIOp>(level, number(kDistances));
  items = repeat(single, items, [&](SmallVector<Value> values, Value pass) {
    Value done = ofSizes<arith::AddIOp>(pass, number(1));
    return comparePass(values, level, ofSizes<arith::SubIOp>(level, done), 1);
  });
  Value left = ofSizes<arith::SubIOp>(level, single);
  return repeat(
      ofSizes<arith::DivUIOp>(level, number(kDistances)), items, [&](SmallVector<Value> values, Value pass) {
        Value done = ofSizes<arith::MulIOp>(ofSizes<arith::AddIOp>(pass, number(1)), number(kDistances));
        return comparePass(values, level, ofSizes<arith::SubIOp>(left, done), kDistances);
      });
}

// The same of a line whose length is known: there is code for each distance, since kernels of known sizes
// need no copies of parts. Distances that the level does not have are left out when the program runs.
SmallVector<Value> SortingNetwork::sortKnownBlocks(SmallVector<Value> items, Value level, int64_t levels) {
  auto singles = [&](SmallVector<Value> values, int64_t last, int64_t count) {
    for (int64_t distance = last + count - 1; distance >= last; --distance)
      values = ifAbove(level, distance, values,
                       [&](ValueRange before) { return comparePass(before, level, attr(distance), 1); });
    return values;
  };
  for (int64_t last = (levels - 1) / kDistances * kDistances; last >= 0; last -= kDistances) {
    int64_t count = std::min(kDistances, levels - last);
    if (count < kDistances) {
      items = singles(items, last, count);
      continue;
    }
    items = ifAbove(
        level, last + kDistances - 1, items,
        [&](ValueRange before) { return comparePass(before, level, attr(last), kDistances); },
        [&](ValueRange before) { return singles(llvm::to_vector(before), last, kDistances - 1); });
  }
  return items;
}

SmallVector<Value> SortingNetwork::ifAbove(Value level, int64_t distance, ValueRange items, Step step,
                                           Step otherwise) {
  Value isAbove = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, level, number(distance));
  auto branch = scf::IfOp::create(builder, loc, items.getTypes(), isAbove, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, step(items));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise ? otherwise(items) : llvm::to_vector(items));
  return llvm::to_vector_of<Value>(branch.getResults());
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
        Value isSmall =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, size, steps.index(power));
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
  std::optional<int64_t> size = getConstantIntValue(padded);
  Value levels = logarithmOf(*this, padded);
  Value last = repeat(levels, items, [&](SmallVector<Value> values, Value level) {
                 Value next = ofSizes<arith::AddIOp>(level, number(1));
                 return size ? sortKnownBlocks(std::move(values), next, llvm::Log2_64(*size))
                             : sortBlocks(std::move(values), next);
               }).back();
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
