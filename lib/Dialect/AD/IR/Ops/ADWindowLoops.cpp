// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions of windows as loop nests: their loops, the elements that they read, and their scalar code.

#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"

using namespace mlir;
using namespace mlir::ad;

//===- Loops and accesses -===//

// The axes that have a loop over the window: an element of a window of one needs none.
static SmallVector<unsigned> loopedAxes(ArrayRef<WindowAxis> axes) {
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, axes.size()),
                                [&](unsigned axis) { return axes[axis].size > 1; });
}

// Those of the result, then those of the window.
template <typename OpT> static SmallVector<OpFoldResult> loopSizes(OpT op, OpBuilder &builder) {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(builder, shapes); // succeeds for all of them
  SmallVector<OpFoldResult> sizes = std::move(shapes.front());
  SmallVector<WindowAxis> axes = op.getWindowAxes();
  for (unsigned axis : loopedAxes(axes))
    sizes.push_back(builder.getIndexAttr(axes[axis].size));
  return sizes;
}

SmallVector<OpFoldResult> ReduceWindowOp::getLoopSizes(OpBuilder &builder) {
  return loopSizes(*this, builder);
}
SmallVector<OpFoldResult> ArgReduceWindowOp::getLoopSizes(OpBuilder &builder) {
  return loopSizes(*this, builder);
}
SmallVector<OpFoldResult> SpreadWindowOp::getLoopSizes(OpBuilder &builder) {
  return loopSizes(*this, builder);
}

// One loop for each axis of the result, then one for each axis along which a window has several elements.
static SmallVector<utils::IteratorType> loopsOf(ArrayRef<WindowAxis> axes) {
  SmallVector<utils::IteratorType> loops(axes.size(), utils::IteratorType::parallel);
  loops.append(loopedAxes(axes).size(), utils::IteratorType::reduction);
  return loops;
}

// The step in the window along each axis: a loop, or 0.
static SmallVector<AffineExpr> stepsOf(ArrayRef<WindowAxis> axes, MLIRContext *context) {
  SmallVector<AffineExpr> steps(axes.size(), getAffineConstantExpr(0, context));
  for (auto [number, axis] : llvm::enumerate(loopedAxes(axes)))
    steps[axis] = getAffineDimExpr(axes.size() + number, context);
  return steps;
}

// The place of the window, over all loops.
static AffineMap placeOf(ArrayRef<WindowAxis> axes, MLIRContext *context) {
  auto dims = llvm::map_to_vector(llvm::seq<unsigned>(0, axes.size()),
                                  [&](unsigned axis) { return getAffineDimExpr(axis, context); });
  return AffineMap::get(axes.size() + loopedAxes(axes).size(), 0, dims, context);
}

static ElementAccess readsWindow(ArrayRef<WindowAxis> axes, TypedAttr outside) {
  MLIRContext *context = outside.getContext();
  SmallVector<AffineExpr> steps = stepsOf(axes, context), indices;
  SmallVector<unsigned> whole;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    indices.push_back(axis.element(getAffineDimExpr(i, context), steps[i]) - axis.low);
    if (axis.isUnpadded() && isa<AffineDimExpr>(indices.back()))
      whole.push_back(i);
  }
  AffineMap map = AffineMap::get(axes.size() + loopedAxes(axes).size(), 0, indices, context);
  // Without padding the places are those whose windows are inside.
  if (llvm::all_of(axes, [](const WindowAxis &axis) { return axis.isUnpadded(); }))
    return ElementAccess(map);
  ElementAccess access(map, {}, OutOfRange::value, outside);
  access.wholeAxes = whole;
  return access;
}

// An element beyond which no number of the type is.
static TypedAttr extremeOf(Type element, bool smallest) {
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    bool hasInfinity = APFloat::semanticsHasInf(semantics);
    return FloatAttr::get(type, hasInfinity ? APFloat::getInf(semantics, smallest)
                                            : APFloat::getLargest(semantics, smallest));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  return IntegerAttr::get(element,
                          smallest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
}

static TypedAttr outsideOf(StringRef kind, Type element, OpBuilder builder) {
  return kind == "max" || kind == "min" ? extremeOf(element, kind == "max") : builder.getZeroAttr(element);
}

SmallVector<utils::IteratorType> ReduceWindowOp::getLoops() { return loopsOf(getWindowAxes()); }
SmallVector<utils::IteratorType> ArgReduceWindowOp::getLoops() { return loopsOf(getWindowAxes()); }
SmallVector<utils::IteratorType> SpreadWindowOp::getLoops() { return loopsOf(getWindowAxes()); }

SmallVector<AffineMap> ReduceWindowOp::getResultMaps() { return {placeOf(getWindowAxes(), getContext())}; }
SmallVector<AffineMap> ArgReduceWindowOp::getResultMaps() { return {placeOf(getWindowAxes(), getContext())}; }
SmallVector<AffineMap> SpreadWindowOp::getResultMaps() { return {placeOf(getWindowAxes(), getContext())}; }

// Whether each window has an element of the input along each axis, and next to each other those outside: then
// the nearest element of the input is one of the window.
static bool hasNearestElements(ArrayRef<WindowAxis> axes, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip_equal(axes, shape), [](auto pair) {
    const WindowAxis &axis = std::get<0>(pair);
    bool overlaps = axis.dilation == 1 && axis.low < axis.size && axis.high < axis.size;
    return std::get<1>(pair) > 0 && (axis.isUnpadded() || overlaps); // kDynamic is negative
  });
}

SmallVector<ElementAccess> ReduceWindowOp::getAccesses() {
  SmallVector<WindowAxis> axes = getWindowAxes();
  SmallVector<ElementAccess> accesses = {
      readsWindow(axes, outsideOf(getKind(), getType().getElementType(), OpBuilder(getContext())))};
  if (getPositions())
    accesses.push_back(placeOf(axes, getContext()));
  // An element that counts twice is still the largest or the smallest one.
  ElementAccess &read = accesses.front();
  if ((getKind() == "max" || getKind() == "min") && read.outOfRange == OutOfRange::value &&
      hasNearestElements(axes, getInput().getType().getShape())) {
    read.outOfRange = OutOfRange::clamp;
    read.padding = {};
  }
  return accesses;
}

SmallVector<ElementAccess> ArgReduceWindowOp::getAccesses() {
  Type element = getInput().getType().getElementType();
  return {readsWindow(getWindowAxes(), outsideOf(getKind(), element, OpBuilder(getContext())))};
}

// The place of which the element is a part by this step, if there is one: indices between places are refused
// by the scalar code.
SmallVector<ElementAccess> SpreadWindowOp::getAccesses() {
  SmallVector<WindowAxis> axes = getWindowAxes();
  SmallVector<AffineExpr> steps = stepsOf(axes, getContext()), indices;
  for (auto [i, axis] : llvm::enumerate(axes))
    indices.push_back(
        (getAffineDimExpr(i, getContext()) + axis.low - steps[i] * axis.dilation).floorDiv(axis.stride));
  AffineMap map = AffineMap::get(axes.size() + loopedAxes(axes).size(), 0, indices, getContext());
  OpBuilder builder(getContext());
  SmallVector<ElementAccess> accesses = {
      ElementAccess(map, {}, OutOfRange::value, builder.getZeroAttr(getType().getElementType()))};
  if (Value positions = getPositions()) {
    Type element = getElementTypeOrSelf(positions.getType());
    accesses.push_back(ElementAccess(map, {}, OutOfRange::value, builder.getIntegerAttr(element, -1)));
  }
  return accesses;
}

//===- Scalar code -===//

namespace {
/// The scalar code of operations on windows.
struct WindowCode : ScalarCode {
  Value index(int64_t value) const { return arith::ConstantIndexOp::create(builder, loc, value); }

  /// The number of the element in its window, in row-major order.
  Value positionOf(ArrayRef<WindowAxis> axes, ValueRange indices) const {
    Value position = index(0);
    for (auto [number, axis] : llvm::enumerate(loopedAxes(axes)))
      position = make<arith::AddIOp>(
          {make<arith::MulIOp>({position, index(axes[axis].size)}), indices[axes.size() + number]});
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), position);
  }

  Value isPosition(ArrayRef<WindowAxis> axes, ValueRange indices, Value position) const {
    return compare(arith::CmpIPredicate::eq, convert(position, builder.getI64Type()),
                   positionOf(axes, indices));
  }

  Value zero(Value like) const { return constant(like.getType(), 0); }
  Value add(Value x, Value y) const { return make<arith::AddFOp, arith::AddIOp>({x, y}); }
};
} // namespace

// What an element gives: without loops over the window, the results.
template <typename OpT>
static SmallVector<Value> ofElement(OpT op, OpBuilder &builder, Location loc, ArrayRef<Value> accumulators) {
  if (loopedAxes(op.getWindowAxes()).empty())
    return op.emitResults(builder, loc, accumulators);
  return SmallVector<Value>(accumulators);
}

SmallVector<Value> ReduceWindowOp::emitElement(OpBuilder &builder, Location loc, ValueRange scalars,
                                               ValueRange indices) {
  WindowCode code{builder, loc};
  Value element = code.convert(scalars[0], computeType(scalars[0].getType()));
  if (getPositions())
    element = code.select(code.isPosition(getWindowAxes(), indices, scalars[1]), element, code.zero(element));
  return ofElement(*this, builder, loc, {element});
}

static Value constantOf(OpBuilder &builder, Location loc, TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, value);
}

SmallVector<Value> ReduceWindowOp::emitNeutral(OpBuilder &builder, Location loc) {
  return {constantOf(builder, loc, outsideOf(getKind(), computeType(getType().getElementType()), builder))};
}

SmallVector<Value> ReduceWindowOp::emitCombine(OpBuilder &builder, Location loc, ValueRange left,
                                               ValueRange right) {
  WindowCode code{builder, loc};
  if (getKind() == "max")
    return {code.make<arith::MaximumFOp, arith::MaxSIOp>({left[0], right[0]})};
  if (getKind() == "min")
    return {code.make<arith::MinimumFOp, arith::MinSIOp>({left[0], right[0]})};
  return {code.add(left[0], right[0])};
}

SmallVector<Value> ReduceWindowOp::emitResults(OpBuilder &builder, Location loc, ValueRange accumulators) {
  WindowCode code{builder, loc};
  Value result = accumulators[0];
  if (getKind() == "mean") {
    double count = 1;
    for (int64_t size : getWindow())
      count *= size;
    result = code.make<arith::DivFOp>({result, code.constant(result.getType(), count)});
  }
  return {code.convert(result, getType().getElementType())};
}

SmallVector<Value> ArgReduceWindowOp::emitElement(OpBuilder &builder, Location loc, ValueRange scalars,
                                                  ValueRange indices) {
  WindowCode code{builder, loc};
  Value key = code.orderKey(scalars[0], /*descending=*/getKind() == "min");
  return ofElement(*this, builder, loc, {key, code.positionOf(getWindowAxes(), indices)});
}

// Where no key is larger than this one, all elements are equal.
SmallVector<Value> ArgReduceWindowOp::emitNeutral(OpBuilder &builder, Location loc) {
  return {constantOf(builder, loc, builder.getI64IntegerAttr(std::numeric_limits<int64_t>::min())),
          constantOf(builder, loc, builder.getI64IntegerAttr(0))};
}

SmallVector<Value> ArgReduceWindowOp::emitCombine(OpBuilder &builder, Location loc, ValueRange left,
                                                  ValueRange right) {
  WindowCode code{builder, loc};
  Value better = code.compare(arith::CmpIPredicate::sgt, right[0], left[0]);
  return {code.select(better, right[0], left[0]), code.select(better, right[1], left[1])};
}

SmallVector<Value> ArgReduceWindowOp::emitResults(OpBuilder &, Location, ValueRange accumulators) {
  return {accumulators[1]};
}

SmallVector<Value> SpreadWindowOp::emitElement(OpBuilder &builder, Location loc, ValueRange scalars,
                                               ValueRange indices) {
  WindowCode code{builder, loc};
  SmallVector<WindowAxis> axes = getWindowAxes();
  Value element = code.convert(scalars[0], computeType(scalars[0].getType())), counts;
  auto require = [&](Value condition) {
    counts = counts ? code.make<arith::AndIOp>({counts, condition}) : condition;
  };
  SmallVector<unsigned> looped = loopedAxes(axes);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis.stride == 1)
      continue;
    Value distance = code.make<arith::AddIOp>({indices[i], code.index(axis.low)});
    if (const unsigned *found = llvm::find(looped, i); found != looped.end()) {
      Value step = indices[axes.size() + (found - looped.begin())];
      distance =
          code.make<arith::SubIOp>({distance, code.make<arith::MulIOp>({step, code.index(axis.dilation)})});
    }
    Value rest = code.make<arith::RemSIOp>({distance, code.index(axis.stride)});
    require(code.compare(arith::CmpIPredicate::eq, rest, code.index(0)));
  }
  if (getPositions())
    require(code.isPosition(axes, indices, scalars[1]));
  return ofElement(*this, builder, loc,
                   {counts ? code.select(counts, element, code.zero(element)) : element});
}

SmallVector<Value> SpreadWindowOp::emitNeutral(OpBuilder &builder, Location loc) {
  return {constantOf(builder, loc, builder.getZeroAttr(computeType(getType().getElementType())))};
}

SmallVector<Value> SpreadWindowOp::emitCombine(OpBuilder &builder, Location loc, ValueRange left,
                                               ValueRange right) {
  return {WindowCode{builder, loc}.add(left[0], right[0])};
}

SmallVector<Value> SpreadWindowOp::emitResults(OpBuilder &builder, Location loc, ValueRange accumulators) {
  return {convertScalar(builder, loc, accumulators[0], getType().getElementType())};
}
