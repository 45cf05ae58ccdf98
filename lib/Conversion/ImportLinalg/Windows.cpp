// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands that are read at sums of a parallel loop and a reduction loop: convolutions and pooling.

#include "LoopNest.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// An axis that is read at place * stride + element * dilation, or at one loop.
struct WindowedAxis {
  unsigned place = 0;
  std::optional<unsigned> element;
  int64_t stride = 1, dilation = 1;
};
} // namespace

static std::optional<WindowedAxis> matchAxis(const LoopNest &nest, AffineExpr expr) {
  SmallVector<int64_t> coefficients;
  if (failed(getFlattenedAffineExpr(expr, nest.sizes.size(), 0, &coefficients)) ||
      coefficients.size() != nest.sizes.size() + 1 || coefficients.back() != 0)
    return std::nullopt;
  SmallVector<unsigned> places, elements;
  for (unsigned loop = 0; loop < nest.sizes.size(); ++loop)
    if (coefficients[loop] != 0)
      (nest.isReduced(loop) ? elements : places).push_back(loop);
  if (isa<AffineDimExpr>(expr))
    return WindowedAxis{places.empty() ? elements.front() : places.front(), std::nullopt, 1, 1};
  if (places.size() != 1 || elements.size() != 1 || coefficients[places[0]] < 1 ||
      coefficients[elements[0]] < 1)
    return std::nullopt;
  return WindowedAxis{places[0], elements[0], coefficients[places[0]], coefficients[elements[0]]};
}

// The axes of an operand, each loop of which is that of one axis; at least one is windowed.
static std::optional<SmallVector<WindowedAxis>> matchAxes(const LoopNest &nest, AffineMap map) {
  SmallVector<WindowedAxis> axes;
  llvm::SmallDenseSet<unsigned> seen;
  bool isWindowed = false;
  for (AffineExpr expr : map.getResults()) {
    std::optional<WindowedAxis> axis = matchAxis(nest, expr);
    if (!axis || !seen.insert(axis->place).second || (axis->element && !seen.insert(*axis->element).second))
      return std::nullopt;
    isWindowed |= axis->element.has_value();
    axes.push_back(*axis);
  }
  return isWindowed ? std::optional(axes) : std::nullopt;
}

// Elements that all windows of the axis span; nothing if a size is open or there is no window.
static std::optional<int64_t> spanOf(const LoopNest &nest, const WindowedAxis &axis) {
  std::optional<int64_t> places = getConstantIntValue(nest.sizes[axis.place]);
  std::optional<int64_t> elements = getConstantIntValue(nest.sizes[*axis.element]);
  if (!places || !elements || *places == 0 || *elements == 0)
    return std::nullopt;
  return (*places - 1) * axis.stride + (*elements - 1) * axis.dilation + 1;
}

//===- Convolutions -===//

namespace {
/// The attributes of an ad.conv.
struct ConvForm {
  std::string dims;
  SmallVector<int64_t> strides, dilations, high, zeros, ones;
};
} // namespace

// Loops of the filter, each of one axis.
static std::optional<SmallVector<unsigned>> plainLoops(AffineMap map) {
  SmallVector<unsigned> loops;
  for (AffineExpr expr : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || llvm::is_contained(loops, loop.getPosition()))
      return std::nullopt;
    loops.push_back(loop.getPosition());
  }
  return loops;
}

// Sums go over loops of both operands, and each loop is one of an operand.
static bool coversLoops(const LoopNest &nest, ArrayRef<WindowedAxis> axes, ArrayRef<unsigned> filter) {
  llvm::SmallDenseSet<unsigned> inInput, windowed;
  for (const WindowedAxis &axis : axes) {
    inInput.insert(axis.place);
    if (axis.element) {
      inInput.insert(*axis.element);
      windowed.insert(axis.place);
    }
  }
  for (unsigned loop = 0; loop < nest.sizes.size(); ++loop) {
    bool isInInput = inInput.contains(loop), isInFilter = llvm::is_contained(filter, loop);
    if (nest.isReduced(loop) ? !(isInInput && isInFilter) : !(isInInput || isInFilter))
      return false;
    if (windowed.contains(loop) && isInFilter)
      return false;
  }
  return true;
}

// Digits are windowed axes, letters all other loops.
static std::optional<ConvForm> formOf(const LoopNest &nest, RankedTensorType input,
                                      ArrayRef<WindowedAxis> axes, ArrayRef<unsigned> filter) {
  constexpr unsigned maxDigits = 10, maxLetters = 26;
  ConvForm form;
  SmallVector<char> names(nest.sizes.size(), 0);
  for (auto [axis, size] : llvm::zip_equal(axes, input.getShape())) {
    if (!axis.element)
      continue;
    std::optional<int64_t> span = spanOf(nest, axis);
    if (!span || ShapedType::isDynamic(size))
      return std::nullopt;
    names[axis.place] = names[*axis.element] = static_cast<char>('0' + form.strides.size());
    form.strides.push_back(axis.stride);
    form.dilations.push_back(axis.dilation);
    form.zeros.push_back(0);
    form.ones.push_back(1);
    // Elements behind the last window would make another place.
    bool makesPlace = size - *span >= axis.stride;
    form.high.push_back(makesPlace ? *span - size : 0);
  }
  if (form.strides.size() > maxDigits || llvm::count(names, 0) > maxLetters)
    return std::nullopt;
  char letter = 'a';
  for (char &name : names)
    name = name ? name : letter++;
  for (const WindowedAxis &axis : axes)
    form.dims += names[axis.place];
  form.dims += ',';
  for (unsigned loop : filter)
    form.dims += names[loop];
  form.dims += "->";
  for (unsigned loop : nest.parallel)
    form.dims += names[loop];
  return form;
}

Value ad::convolve(TensorCode code, const LoopNest &nest, BlockArgument lhs, BlockArgument rhs,
                   Type element) {
  Value input = nest.operandOf(lhs), filter = nest.operandOf(rhs);
  std::optional<SmallVector<WindowedAxis>> axes = matchAxes(nest, nest.mapOf(lhs));
  std::optional<SmallVector<unsigned>> loops = plainLoops(nest.mapOf(rhs));
  if (!axes || !loops || !coversLoops(nest, *axes, *loops))
    return {};
  std::optional<ConvForm> form = formOf(nest, TensorCode::typeOf(input), *axes, *loops);
  if (!form)
    return {};
  RankedTensorType type = typeOfSizes(nest.sizesOf(nest.parallel), element);
  Value made =
      ConvOp::create(code.builder, code.loc, type, input, filter, form->dims, form->strides, form->zeros,
                     form->high, form->ones, form->dilations, OrderAttr(), PermissionsAttr());
  return alignInAnyOrder(code, made, nest.parallel, nest.sizes.size());
}

//===- Pooling -===//

static StringRef nameOf(CombinerKind kind) {
  switch (kind) {
  case CombinerKind::sum:
    return "sum";
  case CombinerKind::maximum:
    return "max";
  case CombinerKind::minimum:
    return "min";
  default:
    return "";
  }
}

// Each reduction loop is that of a window, along which ad.reduce_window knows the size.
static bool reducesWindowsOnly(const LoopNest &nest, ArrayRef<WindowedAxis> axes) {
  return llvm::all_of(nest.reduction,
                      [&](unsigned loop) {
                        return llvm::any_of(axes,
                                            [&](const WindowedAxis &axis) { return axis.element == loop; });
                      }) &&
         llvm::none_of(axes, [&](const WindowedAxis &axis) { return nest.isReduced(axis.place); });
}

// Without the elements behind the last window.
static Value cutTo(TensorCode code, Value input, ArrayRef<int64_t> shape) {
  RankedTensorType type = TensorCode::typeOf(input);
  if (type.getShape() == shape)
    return input;
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  return SliceOp::create(code.builder, code.loc, type.clone(shape), input, offsets, strides, ValueRange(),
                         nullptr);
}

Value ad::poolWindows(TensorCode code, const LoopNest &nest, CombinerKind kind, BlockArgument argument,
                      bool widened) {
  Value input = nest.operandOf(argument);
  StringRef name = nameOf(kind);
  std::optional<SmallVector<WindowedAxis>> axes = matchAxes(nest, nest.mapOf(argument));
  bool isStatic = isa<RankedTensorType>(input.getType()) && TensorCode::typeOf(input).hasStaticShape();
  if (name.empty() || !axes || !isStatic || !reducesWindowsOnly(nest, *axes))
    return {};
  SmallVector<int64_t> window, strides, dilation, shape;
  SmallVector<unsigned> places;
  for (auto [axis, size] : llvm::zip_equal(*axes, TensorCode::typeOf(input).getShape())) {
    std::optional<int64_t> span = axis.element ? spanOf(nest, axis) : size;
    if (!span)
      return {};
    window.push_back(axis.element ? *getConstantIntValue(nest.sizes[*axis.element]) : 1);
    strides.push_back(axis.stride);
    dilation.push_back(axis.dilation);
    bool makesPlace = size - *span >= axis.stride;
    shape.push_back(axis.element && makesPlace ? *span : size);
    places.push_back(axis.place);
  }
  if (widened)
    input = code.cast(input, code.builder.getF32Type());
  Value cut = cutTo(code, input, shape);
  SmallVector<int64_t> zeros(window.size(), 0);
  Value reduced = ReduceWindowOp::create(code.builder, code.loc, name, cut, Value(), window, strides,
                                         dilation, zeros, zeros, PermissionsAttr());
  return alignInAnyOrder(code, reduced, places, nest.sizes.size());
}
