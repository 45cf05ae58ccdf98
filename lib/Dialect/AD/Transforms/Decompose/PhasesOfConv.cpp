// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions of an input with zeros between its elements, such as the derivative of a strided convolution,
// as convolutions without them. Places of the window that are the same modulo a period meet elements of the
// input with the same elements of the filter: they are a phase, which is a convolution with a part of the
// filter. The results of all phases are interleaved.

#include "DecomposeConv.h"
#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// The places of a window along one axis that are `residue` modulo the period. They meet elements of the
/// input with every `between`-th element of the filter from `first` on.
struct Phase {
  int64_t residue = 0, first = 0, between = 1;
  WindowAxis window; ///< of the phase

  bool isEmpty() const { return window.size == 0; }
};

/// The phases along one spatial axis.
class PhasesOfAxis {
public:
  /// For an axis of the input of so many elements, and so many places of the window.
  PhasesOfAxis(const WindowAxis &window, int64_t elements, int64_t places)
      : window(window), elements(elements),
        period(window.inputDilation / std::gcd(window.stride, window.inputDilation)) {
    bool isKnown = !ShapedType::isDynamic(elements) && !ShapedType::isDynamic(window.size) &&
                   !ShapedType::isDynamic(places);
    count = isKnown ? std::min(period, places) : period;
    inPhase = isKnown ? llvm::divideCeil(places, count) : ShapedType::kDynamic;
    for (int64_t residue = 0; residue < count; ++residue)
      if (Phase phase = phaseOf(residue); !phase.isEmpty())
        phases.push_back(phase);
    if (phases.empty())
      phases.push_back(emptyPhase());
  }

  WindowAxis window;
  int64_t elements, period;
  int64_t count;             ///< of the phases, those without an element of the filter included
  int64_t inPhase;           ///< places of each phase; dynamic if a size is
  SmallVector<Phase> phases; ///< those with elements of the filter, or one without any

private:
  /// The window of a phase whose first element meets the input `start` elements after the first one, without
  /// the elements after the input that it needs.
  WindowAxis narrowed(int64_t start, int64_t size) const {
    WindowAxis made;
    made.size = size;
    made.stride = window.stride / std::gcd(window.stride, window.inputDilation);
    made.dilation = window.dilation / std::gcd(window.dilation, window.inputDilation);
    made.low = -start;
    return made;
  }

  Phase phaseOf(int64_t residue) const {
    Phase phase;
    phase.residue = residue;
    phase.between = window.inputDilation / std::gcd(window.dilation, window.inputDilation);
    auto start = [&] { return residue * window.stride + phase.first * window.dilation - window.low; };
    while (phase.first < phase.between && start() % window.inputDilation != 0)
      ++phase.first;
    bool isOpen = ShapedType::isDynamic(window.size);
    if (phase.first == phase.between || (!isOpen && phase.first >= window.size))
      return emptyPhase();
    phase.window =
        narrowed(start() / window.inputDilation,
                 isOpen ? window.size : llvm::divideCeil(window.size - phase.first, phase.between));
    phase.window.high =
        highOf(phase.window, window.high + (isOpen ? (phase.between - 1) * window.dilation : 0));
    return phase;
  }

  Phase emptyPhase() const {
    Phase phase;
    phase.window = narrowed(0, 0);
    phase.window.high =
        highOf(phase.window, std::max<int64_t>(window.low + window.high + window.inputDilation, 0));
    return phase;
  }

  /// The elements after the input that the places of the phase need. Where sizes are not known, `room` before
  /// zeros are left out is enough for the places that there are; others are cut off.
  int64_t highOf(const WindowAxis &made, int64_t room) const {
    if (window.inputDilation == 1 && made.size != 0)
      return window.high;
    if (!ShapedType::isDynamic(inPhase))
      return made.highFor(inPhase, elements);
    return llvm::divideCeilSigned(room + (period - 1) * window.stride, window.inputDilation);
  }
};

/// The convolutions of all phases, interleaved.
class PhasesOfConv {
public:
  PhasesOfConv(OpBuilder &builder, Location loc, ConvOp op)
      : builder(builder), loc(loc), op(op), axes(*ConvAxes::split(op.getDims())) {
    auto sizeAlong = [](Value tensor, StringRef letters, size_t digit) {
      return typeOf(tensor).getDimSize(letters.find(static_cast<char>('0' + digit)));
    };
    for (auto [digit, window] : llvm::enumerate(op.getWindowAxes()))
      along.emplace_back(window, sizeAlong(op.getInput(), axes.input, digit),
                         sizeAlong(op.getResult(), axes.result, digit));
  }

  Value build() {
    ReifiedRankedShapedTypeDims shapes;
    (void)op.reifyResultShapes(builder, shapes); // succeeds for all of them
    sizes = std::move(shapes.front());
    input = padInput(builder, loc, axes, unionOfWindows(), op.getInput());
    return isChosenPointwise() ? firstPlaces(chosenPointwise()) : interleaved(0);
  }

private:
  using Bound = int64_t WindowAxis::*;
  int64_t largest(const PhasesOfAxis &axis, Bound bound) const {
    int64_t most = axis.phases.front().window.*bound;
    for (const Phase &phase : axis.phases)
      most = std::max(most, phase.window.*bound);
    return most;
  }

  /// The padding with which the input has the elements of all phases.
  SmallVector<WindowAxis> unionOfWindows() const {
    return llvm::map_to_vector(along, [&](const PhasesOfAxis &axis) {
      WindowAxis window;
      window.low = largest(axis, &WindowAxis::low);
      window.high = largest(axis, &WindowAxis::high);
      return window;
    });
  }

  /// Whether one pass over the result takes each element from its phase. Concatenations interleave axis by
  /// axis, each of them a copy. The pass reads an element of each phase for an element of the result: few
  /// phases, and vectors of elements of one phase.
  bool isChosenPointwise() {
    constexpr int64_t kMaxPhases = 4, kVectorBits = 512;
    int64_t phases = 1, interleavedAxes = 0;
    for (const PhasesOfAxis &axis : along) {
      phases *= axis.count;
      interleavedAxes += axis.count > 1;
      if (static_cast<int64_t>(axis.phases.size()) != axis.count)
        return false;
    }
    RankedTensorType type = op.getType();
    return interleavedAxes > 1 && phases <= kMaxPhases && type.hasStaticShape() &&
           op.getInput().getType().hasStaticShape() && op.getFilter().getType().hasStaticShape() &&
           !ConvAxes::isSpatial(axes.result.back()) &&
           type.getShape().back() * type.getElementTypeBitWidth() >= kVectorBits;
  }

  /// All phases, each with the axes of the result of which those with several phases are two: places of a
  /// phase, and phases.
  Value chosenPointwise() {
    SmallVector<int64_t> apart, merged;
    for (auto [letter, size] : llvm::zip_equal(axes.result, op.getType().getShape())) {
      const PhasesOfAxis *axis = ConvAxes::isSpatial(letter) ? &along[letter - '0'] : nullptr;
      apart.push_back(axis ? axis->inPhase : size);
      merged.push_back(axis ? axis->inPhase * axis->count : size);
      if (axis && axis->count > 1)
        apart.push_back(axis->count);
    }
    Value whole = chosenFrom(0, op.getType().clone(apart));
    return ReshapeOp::create(builder, loc, op.getType().clone(merged), whole, ValueRange(),
                             PermissionsAttr());
  }

  /// The elements of the phases along the spatial axes from `digit` on; those along the others are chosen.
  Value chosenFrom(size_t digit, RankedTensorType type) {
    if (digit == along.size())
      return repeated(convolution(), type);
    Value value;
    for (const Phase &phase : llvm::reverse(along[digit].phases)) {
      chosen.push_back(&phase);
      Value part = chosenFrom(digit + 1, type);
      chosen.pop_back();
      value = value ? SelectOp::create(builder, loc, type, isInPhase(digit, phase.residue, type), part, value,
                                       PermissionsAttr())
                    : part;
    }
    return value;
  }

  /// The axis of the phases along a spatial axis, in a type that has one for each axis with several phases.
  int64_t axisOfPhases(size_t digit) const {
    int64_t axis = 0;
    for (char letter : axes.result) {
      bool isApart = ConvAxes::isSpatial(letter) && along[letter - '0'].count > 1;
      axis += 1 + isApart;
      if (letter == static_cast<char>('0' + digit))
        break;
    }
    return axis - 1;
  }

  /// The result of a phase, for all phases.
  Value repeated(Value phase, RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    for (auto [digit, axis] : llvm::enumerate(along))
      if (axis.count > 1)
        shape[axisOfPhases(digit)] = 1;
    Value apart = ReshapeOp::create(builder, loc, type.clone(shape), phase, ValueRange(), PermissionsAttr());
    return BroadcastOp::create(builder, loc, type, apart, ValueRange(), PermissionsAttr());
  }

  Value isInPhase(size_t digit, int64_t residue, RankedTensorType type) {
    SmallVector<bool> places(along[digit].count, false);
    places[residue] = true;
    SmallVector<int64_t> shape(type.getRank() - axisOfPhases(digit), 1);
    shape.front() = along[digit].count;
    auto own = RankedTensorType::get(shape, builder.getI1Type());
    Value isPlace = ConstantOp::create(builder, loc, DenseElementsAttr::get(own, places));
    return BroadcastOp::create(builder, loc, type.clone(builder.getI1Type()), isPlace, ValueRange(),
                               PermissionsAttr());
  }

  /// The places that the result has.
  Value firstPlaces(Value tensor) {
    for (size_t digit : llvm::seq(along.size())) {
      int64_t number = axes.result.find(static_cast<char>('0' + digit));
      tensor = firstAlong(number, tensor, sizes[number]);
    }
    return tensor;
  }

  /// The phases along the spatial axes from `digit` on; those along the others are chosen.
  Value interleaved(size_t digit) {
    if (digit == along.size())
      return convolution();
    const PhasesOfAxis &axis = along[digit];
    SmallVector<Value> parts;
    for (const Phase &phase : axis.phases) {
      chosen.push_back(&phase);
      parts.push_back(interleaved(digit + 1));
      chosen.pop_back();
    }
    int64_t number = axes.result.find(static_cast<char>('0' + digit));
    if (axis.count == 1)
      return parts.front();
    Value whole = parts.size() == 1 ? spreadAlong(number, parts.front(), axis.phases.front(), axis)
                                    : interleave(number, parts, axis);
    return firstAlong(number, whole, sizes[number]);
  }

  /// The places of the only phase with elements of the filter, and zeros elsewhere. It is one padding along
  /// all axes that have a single phase.
  Value spreadAlong(int64_t number, Value part, const Phase &phase, const PhasesOfAxis &axis) {
    SmallVector<int64_t> low(typeOf(part).getRank(), 0), high(low), interior(low);
    low[number] = phase.residue;
    high[number] = axis.count - 1 - phase.residue;
    interior[number] = axis.count - 1;
    if (auto inner = part.getDefiningOp<PadOp>(); inner && inner == spread) {
      part = inner.getInput();
      for (auto [axis, before, after, between] :
           llvm::enumerate(inner.getLow(), inner.getHigh(), inner.getInterior())) {
        low[axis] += before;
        high[axis] += after;
        interior[axis] += between;
      }
      spread = nullptr;
    }
    return spread = PadOp::create(builder, loc, part, zeroOf(builder, loc, typeOf(part).getElementType()),
                                  low, high, interior, PermissionsAttr());
  }

  Value interleave(int64_t number, ArrayRef<Value> parts, const PhasesOfAxis &axis) {
    SmallVector<Value> columns(axis.count, Value());
    for (auto [phase, part] : llvm::zip_equal(axis.phases, parts))
      columns[phase.residue] = withUnitAxis(part, number + 1);
    Value some = withUnitAxis(parts.front(), number + 1), none;
    for (Value &column : columns)
      if (!column)
        column = none = none ? none : zerosLike(builder, loc, some);
    Value whole = ConcatOp::create(builder, loc, columns, number + 1, PermissionsAttr());
    SmallVector<OpFoldResult> merged;
    for (int64_t other = 0; other < typeOf(whole).getRank(); ++other) {
      OpFoldResult size = sizeByType(builder, loc, whole, other);
      if (other == number + 1)
        merged.back() = mulSizes(builder, loc, merged.back(), size);
      else
        merged.push_back(size);
    }
    return reshape(whole, merged);
  }

  Value withUnitAxis(Value part, int64_t at) {
    SmallVector<OpFoldResult> shape;
    for (int64_t axis = 0; axis < typeOf(part).getRank(); ++axis)
      shape.push_back(sizeByType(builder, loc, part, axis));
    shape.insert(shape.begin() + at, builder.getIndexAttr(1));
    return reshape(part, shape);
  }

  static std::pair<SmallVector<int64_t>, SmallVector<Value>> split(ArrayRef<OpFoldResult> shape) {
    SmallVector<int64_t> known;
    SmallVector<Value> open;
    dispatchIndexOpFoldResults(shape, open, known);
    return {known, open};
  }

  Value reshape(Value tensor, ArrayRef<OpFoldResult> shape) {
    auto [known, open] = split(shape);
    return ReshapeOp::create(builder, loc, typeOf(tensor).clone(known), tensor, open, PermissionsAttr());
  }

  /// The first elements along an axis.
  Value firstAlong(int64_t number, Value tensor, OpFoldResult size) {
    if (isa<Attribute>(size) && getConstantIntValue(size) == typeOf(tensor).getDimSize(number))
      return tensor;
    return sliceAlong(number, tensor, 0, 1, size);
  }

  Value sliceAlong(int64_t number, Value tensor, int64_t offset, int64_t stride, OpFoldResult size) {
    SmallVector<int64_t> offsets(typeOf(tensor).getRank(), 0), strides(offsets.size(), 1);
    SmallVector<OpFoldResult> shape;
    for (int64_t axis = 0; axis < typeOf(tensor).getRank(); ++axis)
      shape.push_back(axis == number ? size : sizeByType(builder, loc, tensor, axis));
    offsets[number] = offset;
    strides[number] = stride;
    auto [known, open] = split(shape);
    return SliceOp::create(builder, loc, typeOf(tensor).clone(known), tensor, offsets, strides, open,
                           PermissionsAttr());
  }

  /// The elements of the filter that the chosen phases have.
  Value filterOfPhases() {
    Value filter = op.getFilter();
    for (auto [digit, phase] : llvm::enumerate(chosen)) {
      int64_t number = axes.filter.find(static_cast<char>('0' + digit));
      if (phase->window.size == along[digit].window.size && phase->first == 0 &&
          (phase->between == 1 || phase->window.size == 1))
        continue;
      OpFoldResult size =
          ShapedType::isDynamic(phase->window.size)
              ? ceilQuotient(sizeByType(builder, loc, filter, number), phase->first, phase->between)
              : OpFoldResult(builder.getIndexAttr(phase->window.size));
      filter = sliceAlong(number, filter, phase->first, phase->between, size);
    }
    return filter;
  }

  /// How many times `divisor` begins in the size without its first elements.
  OpFoldResult ceilQuotient(OpFoldResult size, int64_t without, int64_t divisor) {
    if (isa<Attribute>(size))
      return builder.getIndexAttr(
          llvm::divideCeil(std::max<int64_t>(*getConstantIntValue(size) - without, 0), divisor));
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    Value more = arith::AddIOp::create(builder, loc, cast<Value>(size), constant(divisor - 1 - without));
    return OpFoldResult(Value(arith::DivUIOp::create(
        builder, loc, arith::MaxSIOp::create(builder, loc, more, constant(0)), constant(divisor))));
  }

  Value convolution() {
    SmallVector<WindowAxis> cropped;
    SmallVector<int64_t> strides, dilations;
    for (auto [axis, phase] : llvm::zip_equal(along, chosen)) {
      WindowAxis &window = cropped.emplace_back();
      window.low = phase->window.low - largest(axis, &WindowAxis::low);
      window.high = phase->window.high - largest(axis, &WindowAxis::high);
      strides.push_back(phase->window.stride);
      dilations.push_back(phase->window.dilation);
    }
    Value padded = padInput(builder, loc, axes, cropped, input), filter = filterOfPhases();
    SmallVector<int64_t> shape(op.getType().getShape());
    for (auto [digit, phase] : llvm::enumerate(chosen)) {
      char letter = static_cast<char>('0' + digit);
      WindowAxis window = phase->window;
      window.low = window.high = 0;
      window.size = typeOf(filter).getDimSize(axes.filter.find(letter));
      shape[axes.result.find(letter)] = window.places(typeOf(padded).getDimSize(axes.input.find(letter)));
    }
    Value made = ConvOp::create(builder, loc, op.getType().clone(shape), padded, filter, op.getDims(),
                                strides, ArrayRef<int64_t>(), ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                                dilations, op.getOrderAttr(), op.getAllowAttr());
    for (auto [digit, axis] : llvm::enumerate(along)) {
      int64_t number = axes.result.find(static_cast<char>('0' + digit));
      if (ShapedType::isDynamic(axis.inPhase))
        made = firstAlong(number, made, ceilQuotient(sizes[number], 0, axis.count));
    }
    return made;
  }

  OpBuilder &builder;
  Location loc;
  ConvOp op;
  ConvAxes axes;
  SmallVector<PhasesOfAxis> along;
  SmallVector<OpFoldResult> sizes; // of the result
  Value input;                     // padded for all phases
  SmallVector<const Phase *> chosen;
  PadOp spread; // the last padding with zeros between the places of a phase
};

struct SplitConvIntoPhases : NumericsPattern<ConvOp> {
  explicit SplitConvIntoPhases(MLIRContext *context)
      : NumericsPattern(context, "split-conv-into-phases", Permissions::none, /*benefit=*/2) {}

  LogicalResult match(ConvOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!skipsInsertedZeros(op.getWindowAxes()))
      return rewriter.notifyMatchFailure(op, "expected an input with few zeros between its elements");
    if (llvm::is_contained(op.getType().getShape(), 0))
      return rewriter.notifyMatchFailure(op, "expected a result with elements");
    return success();
  }

  void rewrite(ConvOp op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    rewriter.replaceOp(op, PhasesOfConv(rewriter, steps.loc, op).build());
  }
};
} // namespace

void ad::populatePhasesOfConvPatterns(RewritePatternSet &patterns) {
  patterns.add<SplitConvIntoPhases>(patterns.getContext());
}
