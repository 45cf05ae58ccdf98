// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/IR/WindowAxis.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

// No tensor in memory has as many elements, and sums with paddings do not overflow.
static constexpr int64_t kMany = int64_t(1) << 62;

static int64_t dilated(int64_t elements, int64_t dilation) {
  if (elements == 0)
    return 0;
  return elements > kMany / dilation ? kMany : (elements - 1) * dilation + 1;
}

int64_t WindowAxis::places(int64_t elements) const {
  if (ShapedType::isDynamic(elements) || ShapedType::isDynamic(size))
    return ShapedType::kDynamic;
  int64_t room = dilated(elements, inputDilation) + low + high - reach() - 1;
  return room < 0 ? 0 : room / stride + 1;
}

OpFoldResult WindowAxis::places(OpBuilder &builder, Location loc, OpFoldResult elements,
                                OpFoldResult window) const {
  if (auto number = getConstantIntValue(elements), known = getConstantIntValue(window); number && known) {
    WindowAxis axis = *this;
    axis.size = *known;
    return builder.getIndexAttr(axis.places(*number));
  }
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value zero = constant(0), one = constant(1);
  // One less than the elements, as if there was at least one.
  auto steps = [&](OpFoldResult count) -> Value {
    Value known = getValueOrCreateConstantIndexOp(builder, loc, count);
    return builder.createOrFold<arith::SubIOp>(loc, builder.createOrFold<arith::MaxSIOp>(loc, known, one),
                                               one);
  };
  Value last = builder.createOrFold<arith::MulIOp>(loc, steps(elements), constant(inputDilation));
  Value count = getValueOrCreateConstantIndexOp(builder, loc, elements);
  Value isEmpty = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, count, zero);
  last = builder.createOrFold<arith::SelectOp>(loc, isEmpty, constant(-1), last);
  Value reached = builder.createOrFold<arith::MulIOp>(loc, steps(window), constant(dilation));
  Value room = builder.createOrFold<arith::SubIOp>(
      loc, builder.createOrFold<arith::AddIOp>(loc, last, constant(low + high)), reached);
  Value fits = builder.createOrFold<arith::AddIOp>(
      loc,
      builder.createOrFold<arith::DivSIOp>(loc, builder.createOrFold<arith::MaxSIOp>(loc, room, zero),
                                           constant(stride)),
      one);
  Value hasRoom = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, room, zero);
  return builder.createOrFold<arith::SelectOp>(loc, hasRoom, fits, zero);
}

int64_t WindowAxis::highFor(int64_t places, int64_t elements) const {
  return (places - 1) * stride + reach() + 1 - dilated(elements, inputDilation) - low;
}

bool ad::skipsInsertedZeros(ArrayRef<WindowAxis> windows) {
  constexpr int64_t kMaxDilations = 64;
  int64_t product = 1;
  for (const WindowAxis &window : windows)
    product = std::min(product, kMaxDilations + 1) * window.inputDilation; // below 2^38
  return product > 1 && product <= kMaxDilations;
}

std::optional<ConvAxes> ConvAxes::split(StringRef dims) {
  auto [operands, result] = dims.split("->");
  auto [input, filter] = operands.split(',');
  if (!dims.contains("->") || !operands.contains(','))
    return std::nullopt;
  ConvAxes axes;
  axes.input = input;
  axes.filter = filter;
  axes.result = result;
  return axes;
}

SmallVector<char> ConvAxes::summed() const {
  SmallVector<char> letters;
  for (char letter : filter)
    if (isSpatial(letter) || !result.contains(letter))
      letters.push_back(letter);
  return letters;
}

SmallVector<std::pair<int64_t, int64_t>> ConvAxes::sharedAxes() const {
  SmallVector<std::pair<int64_t, int64_t>> axes;
  for (auto [axis, letter] : llvm::enumerate(filter))
    if (size_t other = input.find(letter); !isSpatial(letter) && other != StringRef::npos)
      axes.push_back({static_cast<int64_t>(other), static_cast<int64_t>(axis)});
  return axes;
}

AffineMap ConvAxes::inputMap(ArrayRef<WindowAxis> windows, MLIRContext *context) const {
  auto loop = [&](unsigned number) { return getAffineDimExpr(number, context); };
  auto indices = llvm::map_to_vector(input, [&](char letter) -> AffineExpr {
    if (isSpatial(letter))
      return windows[letter - '0'].element(loop(parallelLoop(letter)), loop(summedLoop(letter)));
    return loop(result.contains(letter) ? parallelLoop(letter) : summedLoop(letter));
  });
  return AffineMap::get(loopCount(), 0, indices, context);
}

AffineMap ConvAxes::filterMap(MLIRContext *context) const {
  auto indices = llvm::map_to_vector(filter, [&](char letter) {
    bool isSummed = isSpatial(letter) || !result.contains(letter);
    return getAffineDimExpr(isSummed ? summedLoop(letter) : parallelLoop(letter), context);
  });
  return AffineMap::get(loopCount(), 0, indices, context);
}
