// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions as products with a copy of the input that has the elements of all windows, the patches
// (im2col). For targets whose kernels for products read operands by rows and columns alone.

#include "DecomposeConv.h"
#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

// Copies are made one after the other along each spatial axis: with more of them the code becomes large.
static constexpr int64_t kMaxParts = 16;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// Replaces each spatial axis of a tensor by one for the places of the window and one for its elements.
class Patches {
public:
  Patches(OpBuilder &builder, Location loc, ConvOp op)
      : builder(builder), loc(loc), axes(*ConvAxes::split(op.getDims())), windows(op.getWindowAxes()),
        made{op.getInput(), axes.input.str()} {
    for (char letter : withStepLetters(StringRef(axes.summed().data(), axes.summed().size())))
      summed += letter;
    for (auto [letter, size] : llvm::zip_equal(axes.result, typeOf(op.getResult()).getShape()))
      if (ConvAxes::isSpatial(letter))
        places[letter - '0'] = size;
  }

  LetteredTensor build() {
    for (char letter : axes.input)
      if (ConvAxes::isSpatial(letter))
        split(letter);
    return made;
  }

private:
  /// Along the axis of the digit stays what there is more of; the other one gets an axis with a part for
  /// each.
  void split(char digit) {
    const WindowAxis &window = windows[digit - '0'];
    int64_t count = places[digit - '0'];
    bool splitsPlaces = !ShapedType::isDynamic(count) && count < window.size;
    int64_t parts = splitsPlaces ? count : window.size;
    char part = splitsPlaces ? digit : stepLetter(digit);
    int64_t axis = made.letters.find(digit);
    if (splitsPlaces)
      made.letters[axis] = stepLetter(digit);
    int64_t stays = splitsPlaces ? window.size : count;
    int64_t between = splitsPlaces ? window.dilation : window.stride,
            next = splitsPlaces ? window.stride : window.dilation;
    int64_t at = positionOf(part, splitsPlaces ? axes.result.str() : summed);
    SmallVector<Value> copies;
    for (int64_t number = 0; number < parts; ++number)
      copies.push_back(withUnitAxis(slice(axis, number * next, stays, between, window), at));
    made.tensor = ConcatOp::create(builder, loc, copies, at, PermissionsAttr());
    made.letters.insert(at, 1, part);
  }

  /// Where the axis of a letter is beside its neighbours in the given order, which are merged then.
  int64_t positionOf(char letter, const std::string &order) const {
    size_t place = order.find(letter);
    if (place > 0)
      if (size_t before = made.letters.find(order[place - 1]); before != std::string::npos)
        return before + 1;
    for (char after : StringRef(order).drop_front(place + 1))
      if (size_t next = made.letters.find(after); next != std::string::npos)
        return next;
    return made.letters.size();
  }

  /// `size` elements along the axis from `offset` on, so many apart.
  Value slice(int64_t axis, int64_t offset, int64_t size, int64_t stride, const WindowAxis &window) {
    RankedTensorType type = typeOf(made.tensor);
    SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1), shape(type.getShape());
    SmallVector<Value> sizes;
    for (int64_t other = 0; other < type.getRank(); ++other) {
      if (other == axis ? !ShapedType::isDynamic(size) : !type.isDynamicDim(other))
        continue;
      OpFoldResult known = sizeOf(builder, loc, made.tensor, other);
      if (other == axis)
        known = window.places(builder, loc, known, builder.getIndexAttr(window.size));
      sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, known));
    }
    offsets[axis] = offset;
    strides[axis] = stride;
    shape[axis] = size;
    return SliceOp::create(builder, loc, type.clone(shape), made.tensor, offsets, strides, sizes,
                           PermissionsAttr());
  }

  Value withUnitAxis(Value part, int64_t at) {
    SmallVector<int64_t> shape(typeOf(part).getShape());
    shape.insert(shape.begin() + at, 1);
    return ReshapeOp::create(builder, loc, typeOf(part).clone(shape), part, dynamicSizes(builder, loc, part),
                             PermissionsAttr());
  }

  OpBuilder &builder;
  Location loc;
  ConvAxes axes;
  SmallVector<WindowAxis> windows;
  LetteredTensor made;
  std::string summed;
  std::array<int64_t, 10> places{};
};

struct PatchesOfConv : NumericsPattern<ConvOp> {
  explicit PatchesOfConv(MLIRContext *context) : NumericsPattern(context, "patches-of-conv") {}

  LogicalResult match(ConvOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    ConvAxes axes = *ConvAxes::split(op.getDims());
    if (!op.isUnpadded() || axes.spatialRank() == 0)
      return rewriter.notifyMatchFailure(op, "expected windows over an input without padding");
    for (auto [digit, window] : llvm::enumerate(op.getWindowAxes())) {
      int64_t places = op.getType().getDimSize(axes.result.find(static_cast<char>('0' + digit)));
      auto isFew = [](int64_t count) {
        return !ShapedType::isDynamic(count) && count > 0 && count <= kMaxParts;
      };
      if (ShapedType::isDynamic(window.size) || window.size == 0 || places == 0 ||
          (!isFew(window.size) && !isFew(places)))
        return rewriter.notifyMatchFailure(op, "expected few elements in a window, or few places");
    }
    if (llvm::all_of(op.getWindowAxes(),
                     [](const WindowAxis &window) { return window.size == 1 && window.stride == 1; }))
      return rewriter.notifyMatchFailure(op, "expected windows of several elements, or strides");
    auto isChannel = [&](char letter) { return !ConvAxes::isSpatial(letter) && axes.input.contains(letter); };
    if (llvm::none_of(axes.summed(), isChannel) ||
        llvm::all_of(axes.filter, [&](char letter) { return axes.input.contains(letter); }))
      return rewriter.notifyMatchFailure(op, "expected channels of the input and of the result");
    return success();
  }

  void rewrite(ConvOp op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    LetteredTensor input = Patches(rewriter, steps.loc, op).build();
    LetteredTensor filter{op.getFilter(), withStepLetters(ConvAxes::split(op.getDims())->filter)};
    rewriter.replaceOp(op, productOf(rewriter, op, steps.loc, input, filter));
  }
};
} // namespace

void ad::populatePatchesOfConvPatterns(RewritePatternSet &patterns) {
  patterns.add<PatchesOfConv>(patterns.getContext());
}
