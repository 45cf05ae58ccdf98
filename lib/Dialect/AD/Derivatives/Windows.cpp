// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of convolutions and of reductions of windows.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===- conv -===//

static Value reversed(Rule &rule, Value filter, StringRef letters) {
  SmallVector<int64_t> axes;
  for (auto [axis, letter] : llvm::enumerate(letters))
    if (ConvAxes::isSpatial(letter) && typeOf(filter).getDimSize(axis) != 1)
      axes.push_back(axis);
  return axes.empty() ? filter : ReverseOp::create(rule.builder, rule.loc, filter, axes, PermissionsAttr());
}

// The filter with this letter as its last one, if it has it: the result runs along it too, so that both are
// read and written in vectors.
static std::pair<Value, std::string> endingIn(Rule &rule, char letter, Value filter, StringRef letters) {
  size_t axis = letters.find(letter);
  if (axis == StringRef::npos || ConvAxes::isSpatial(letter))
    return {filter, letters.str()};
  SmallVector<int64_t> order;
  std::string made;
  for (auto [other, name] : llvm::enumerate(letters))
    if (name != letter) {
      order.push_back(other);
      made += name;
    }
  order.push_back(axis);
  made += letter;
  if (llvm::is_sorted(order))
    return {filter, made};
  return {TransposeOp::create(rule.builder, rule.loc, filter, order, PermissionsAttr()), made};
}

static Value convolve(Rule &rule, Value input, Value filter, const Twine &dims,
                      ArrayRef<WindowAxis> windows) {
  auto list = [&](int64_t WindowAxis::*field) {
    return llvm::map_to_vector(windows, [&](const WindowAxis &window) { return window.*field; });
  };
  return ConvOp::create(rule.builder, rule.loc, input, filter, dims.str(), list(&WindowAxis::stride),
                        list(&WindowAxis::low), list(&WindowAxis::high), list(&WindowAxis::inputDilation),
                        list(&WindowAxis::dilation), OrderAttr(), PermissionsAttr());
}

// The first elements along each axis, as many as `like` has.
static Value firstPart(Rule &rule, Value value, Value like) {
  RankedTensorType type = typeOf(value).clone(typeOf(like).getShape());
  SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1);
  return SliceOp::create(rule.builder, rule.loc, type, value, zeros, ones,
                         dynamicSizes(rule.builder, rule.loc, like), PermissionsAttr());
}

// `value` with zeros after it along the axis, as many as `like` has elements there.
static Value extended(Rule &rule, Value value, int64_t axis, Value like) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[axis] = typeOf(like).getDimSize(axis);
  SmallVector<Value> sizes;
  for (auto [other, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      sizes.push_back(tensor::DimOp::create(rule.builder, rule.loc,
                                            static_cast<int64_t>(other) == axis ? like : value, other));
  Type element = typeOf(value).getElementType();
  Value zero = arith::ConstantOp::create(rule.builder, rule.loc, rule.builder.getZeroAttr(element));
  Value zeros =
      FullOp::create(rule.builder, rule.loc, typeOf(value).clone(shape), zero, sizes, PermissionsAttr());
  return ConcatOp::create(rule.builder, rule.loc, ValueRange{value, zeros}, axis, PermissionsAttr());
}

// The size of a tensor along a spatial axis.
static int64_t sizeAlong(Value tensor, StringRef letters, size_t digit) {
  return typeOf(tensor).getDimSize(letters.find(static_cast<char>('0' + digit)));
}

// Along an axis whose sizes are known, the derivative's convolution has the places that it needs. Along
// others it is not known which elements no window of a strided convolution reaches, nor whether there is a
// window at all: there are places enough, and what is too much is cut off.
static bool isKnown(ConvOp op, const ConvAxes &axes, size_t digit, const WindowAxis &window) {
  return !ShapedType::isDynamic(sizeAlong(op.getInput(), axes.input, digit)) &&
         !ShapedType::isDynamic(sizeAlong(op.getResult(), axes.result, digit)) &&
         !ShapedType::isDynamic(window.size);
}

static LogicalResult giveInput(ConvOp op, const ConvAxes &axes, Rule &rule) {
  bool isExact = true;
  SmallVector<WindowAxis> windows = op.getWindowAxes(), inverse(windows);
  Type element = getElementTypeOrSelf(rule.cotangent.getType());
  for (auto [digit, window, forward] : llvm::enumerate(inverse, windows)) {
    if (ShapedType::isDynamic(forward.size))
      return op.emitOpError("has no derivative of its input where the filter's size along spatial axis ")
             << digit << " is dynamic; give the filter static spatial sizes";
    std::swap(window.stride, window.inputDilation);
    window.low = forward.reach() - forward.low;
    if (isKnown(op, axes, digit, forward)) {
      window.high = window.highFor(sizeAlong(op.getInput(), axes.input, digit),
                                   sizeAlong(op.getResult(), axes.result, digit));
      continue;
    }
    window.high = forward.reach() - forward.high + forward.stride - 1;
    // Each element then has a window, and there are as many windows as elements.
    isExact &=
        forward.stride == 1 && forward.inputDilation == 1 && forward.low + forward.high >= forward.reach();
  }
  auto [filter, letters] =
      endingIn(rule, axes.input.empty() ? '0' : axes.input.back(),
               reversed(rule, rule.cast(op.getFilter(), element), axes.filter), axes.filter);
  Value given =
      convolve(rule, rule.cotangent, filter, axes.result + "," + letters + "->" + axes.input, inverse);
  rule.give(0, isExact ? given : firstPart(rule, given, op.getInput()));
  return success();
}

static void giveFilter(ConvOp op, const ConvAxes &axes, Rule &rule) {
  SmallVector<int64_t> unknown;
  SmallVector<WindowAxis> windows = op.getWindowAxes(), inverse(windows);
  for (auto [digit, window, forward] : llvm::enumerate(inverse, windows)) {
    std::swap(window.stride, window.dilation);
    window.size = sizeAlong(op.getResult(), axes.result, digit);
    if (isKnown(op, axes, digit, forward)) {
      window.high = window.highFor(forward.size, sizeAlong(op.getInput(), axes.input, digit));
      continue;
    }
    window.high = forward.high;
    unknown.push_back(axes.filter.find(static_cast<char>('0' + digit)));
  }
  Value input = rule.cast(op.getInput(), getElementTypeOrSelf(rule.cotangent.getType()));
  Value given =
      convolve(rule, input, rule.cotangent, axes.input + "," + axes.result + "->" + axes.filter, inverse);
  // Where the result is empty, this one may be shorter than the filter, whose derivative is zero.
  for (int64_t axis : unknown)
    given = extended(rule, given, axis, op.getFilter());
  rule.give(1, unknown.empty() ? given : firstPart(rule, given, op.getFilter()));
}

static LogicalResult convRule(ConvOp op, Rule &rule) {
  ConvAxes axes = *ConvAxes::split(op.getDims());
  if (rule.wants(0) && failed(giveInput(op, axes, rule)))
    return failure();
  if (rule.wants(1))
    giveFilter(op, axes, rule);
  return success();
}

//===- Reductions of windows -===//

// The cotangent of the operand of a reduction over the windows of `op`.
template <typename OpT> static Value spread(OpT op, RuleBuilder &rule, Value cotangent, Value positions) {
  Value input = op.getInput();
  RankedTensorType type = typeOf(cotangent).clone(typeOf(input).getShape());
  return SpreadWindowOp::create(rule.builder, rule.loc, type, cotangent, positions, op.getWindow(),
                                op.getStrides(), op.getDilation(), op.getLow(), op.getHigh(),
                                dynamicSizes(rule.builder, rule.loc, input), PermissionsAttr());
}

static LogicalResult reduceWindowRule(ReduceWindowOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value cotangent = rule.cotangent, positions = op.getPositions();
  if (op.getKind() == "mean") {
    double count = 1;
    for (int64_t size : op.getWindow())
      count *= static_cast<double>(size);
    cotangent = rule.widen(cotangent);
    cotangent = rule.div(cotangent, rule.number(cotangent, count));
  }
  if (op.getKind() == "max" || op.getKind() == "min")
    positions = ArgReduceWindowOp::create(rule.builder, rule.loc, op.getKind(), op.getInput(), op.getWindow(),
                                          op.getStrides(), op.getDilation(), op.getLow(), op.getHigh(),
                                          PermissionsAttr());
  rule.give(0, spread(op, rule, cotangent, positions));
  return success();
}

static LogicalResult spreadWindowRule(SpreadWindowOp op, Rule &rule) {
  if (rule.wants(0))
    rule.give(0, ReduceWindowOp::create(rule.builder, rule.loc, "sum", rule.cotangent, op.getPositions(),
                                        op.getWindow(), op.getStrides(), op.getDilation(), op.getLow(),
                                        op.getHigh(), PermissionsAttr()));
  return success();
}

void ad::attachWindowRules(MLIRContext *context) {
  attachRule<ConvOp, convRule>(context);
  attachRule<ReduceWindowOp, reduceWindowRule>(context);
  attachRule<SpreadWindowOp, spreadWindowRule>(context);
  attachZeroRules<ArgReduceWindowOp>(context);
}
