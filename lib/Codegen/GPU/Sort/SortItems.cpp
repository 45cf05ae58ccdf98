// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SortItems.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

//===- Items --------------------------------------------------------------===//

static constexpr unsigned kHalfWord = 16;

ItemForm ItemForm::inRuns(Type element) {
  return {element.getIntOrFloatBitWidth() > 32 ? 8 : 4, /*hasPosition=*/true};
}

ItemForm ItemForm::inTile(Type element) {
  ItemForm form = inRuns(element);
  form.hasPosition = element.getIntOrFloatBitWidth() > kHalfWord;
  return form;
}

SortItems::SortItems(OpBuilder &builder, Location loc, Type element, bool descending, ItemForm form)
    : ScalarBuilder(builder, loc), form(form), element(element), width(element.getIntOrFloatBitWidth()),
      descending(descending) {}

// The magnitude above which a float is a NaN.
static APInt largestMagnitude(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  return (APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics) : APFloat::getLargest(semantics))
      .bitcastToAPInt();
}

// Unsigned numbers in the order of the elements: a NaN is the largest one in both directions, -0 is +0.
Value SortItems::keyOf(Value bits) {
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(bits.getType(), value));
  };
  APInt signBit = APInt::getSignMask(width);
  Value most = constant(APInt::getAllOnes(width));
  auto directed = [&](Value key) { return descending ? binary<arith::XOrIOp>(key, most) : key; };
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return directed(binary<arith::XOrIOp>(bits, constant(signBit)));
  Value magnitude = binary<arith::AndIOp>(bits, constant(~signBit)), zero = number(bits, 0);
  Value isNaN = compare(arith::CmpIPredicate::ugt, magnitude, constant(largestMagnitude(type)));
  Value isZero = compare(arith::CmpIPredicate::eq, magnitude, zero);
  Value number = select(isZero, zero, bits);
  Value sign = binary<arith::ShRSIOp>(number, int64_t(width - 1));
  Value flipped = binary<arith::OrIOp>(sign, constant(signBit));
  return select(isNaN, most, directed(binary<arith::XOrIOp>(number, flipped)));
}

SortItem SortItems::make(Value bits, Value position) {
  Value key = resized(keyOf(bits), form.keyBytes * 8);
  if (form.hasPosition)
    return {key, position};
  return {binary<arith::OrIOp>(binary<arith::ShLIOp>(key, int64_t(kHalfWord)), position), Value()};
}

SortItem SortItems::inRun(const SortItem &item, Value position) {
  return form.hasPosition ? item : SortItem{binary<arith::ShRUIOp>(item.key, int64_t(kHalfWord)), position};
}

Value SortItems::placeOf(const SortItem &item) {
  return binary<arith::AndIOp>(item.key, (int64_t(1) << kHalfWord) - 1);
}

SortItem SortItems::last() {
  auto largest = [&](Type type) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, -1));
  };
  return {largest(keyType()), form.hasPosition ? largest(positionType()) : Value()};
}

// A key of 32 bits is the upper half of a word whose lower half is the position.
Value SortItems::comesBefore(const SortItem &x, const SortItem &y) {
  if (!form.hasPosition)
    return isBelow(x.key, y.key);
  if (form.keyBytes == 4) {
    auto word = [&](const SortItem &item) {
      return binary<arith::OrIOp>(binary<arith::ShLIOp>(resized(item.key, 64), 32),
                                  resized(item.position, 64));
    };
    return isBelow(word(x), word(y));
  }
  Value isSame = compare(arith::CmpIPredicate::eq, x.key, y.key);
  return select(isSame, isBelow(x.position, y.position), isBelow(x.key, y.key));
}

SortItem SortItems::select(Value condition, const SortItem &x, const SortItem &y) {
  return {select(condition, x.key, y.key),
          form.hasPosition ? select(condition, x.position, y.position) : Value()};
}

// Puts two items in ascending order.
void SortItems::exchange(SortItem &x, SortItem &y) {
  Value moves = comesBefore(y, x);
  SortItem first = select(moves, y, x);
  y = select(moves, x, y);
  x = first;
}

void SortItems::sort(MutableArrayRef<SortItem> items) {
  size_t count = items.size();
  for (size_t run = 1; run < count; run *= 2)
    for (size_t distance = run; distance >= 1; distance /= 2)
      for (size_t from = distance % run; from + distance < count; from += 2 * distance)
        for (size_t i = from; i < from + distance; ++i)
          if (i / (2 * run) == (i + distance) / (2 * run))
            exchange(items[i], items[i + distance]);
}

// The item of the thread whose number has other bits where the mask has ones.
SortItem SortItems::ofThread(const SortItem &item, int64_t mask) {
  auto shuffled = [&](Value word) -> Value {
    return ::mlir::gpu::ShuffleOp::create(builder, loc, word, mask, kWarpThreads,
                                          ::mlir::gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  SortItem other = {shuffled(resized(item.key, 32)), form.hasPosition ? shuffled(item.position) : Value()};
  if (form.keyBytes == 8) {
    Value upper = shuffled(resized(binary<arith::ShRUIOp>(item.key, 32), 32));
    upper = binary<arith::ShLIOp>(resized(upper, 64), 32);
    other.key = binary<arith::OrIOp>(resized(other.key, 64), upper);
  }
  return other;
}

// The first step compares with the second run read backwards, so that all steps are ascending.
void SortItems::mergeInGroup(MutableArrayRef<SortItem> own, int64_t group, Value thread) {
  auto compareWith = [&](int64_t mask, int64_t upperBit, bool backwards) {
    Value isLower = compare(arith::CmpIPredicate::eq, binary<arith::AndIOp>(thread, upperBit), i32(0));
    SmallVector<SortItem> others;
    for (size_t i = 0; i < own.size(); ++i)
      others.push_back(ofThread(own[backwards ? own.size() - 1 - i : i], mask));
    for (auto [item, other] : llvm::zip_equal(own, others)) {
      Value keeps = compare(arith::CmpIPredicate::eq, comesBefore(item, other), isLower);
      item = select(keeps, item, other);
    }
  };
  compareWith(group - 1, group / 2, /*backwards=*/true);
  for (int64_t distance = group / 4; distance >= 1; distance /= 2)
    compareWith(distance, distance, /*backwards=*/false);
  for (size_t distance = own.size() / 2; distance >= 1; distance /= 2)
    for (size_t i = 0; i < own.size(); ++i)
      if (i / distance % 2 == 0)
        exchange(own[i], own[i + distance]);
}
