// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions as products with a copy of the input that has the elements of all windows, the patches
// (im2col). For targets whose kernels for products read operands by rows and columns alone.

#include "DecomposeConv.h"
#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

// Along an axis, patches have at most so many elements for each one of the input.
static constexpr int64_t kMaxCopies = 16;

// Stands for neighbouring axes of indices.
static constexpr char kIndices = '*';

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// The elements that all windows read, with zeros where they read padding. Axes of the result are side by
/// side, and so are those of the sum, in its order; the last ones are those that the last axis of the input
/// is of, whose elements are then read and written side by side.
class Patches {
public:
  Patches(OpBuilder &builder, Location loc, ConvOp op)
      : builder(builder), loc(loc), op(op), axes(*ConvAxes::split(op.getDims())),
        windows(op.getWindowAxes()) {
    std::string kept;
    for (char letter : axes.result)
      if (axes.input.contains(letter))
        kept += letter;
    SmallVector<char> summed = axes.summed();
    std::string steps = withStepLetters(StringRef(summed.data(), summed.size()));
    bool endsInKept = isSlice(axes.input.back()) && axes.result.contains(axes.input.back());
    letters = endsInKept ? steps + kept : kept + steps;
    keepOrderOfSlices();
  }

  LetteredTensor build() {
    if (llvm::all_of(windows,
                     [](const WindowAxis &window) { return window.size == 1 && window.isUnpadded(); }))
      return elementsOfPlaces();
    SmallVector<Value> indices;
    SmallVector<int64_t> read, slices;
    for (auto [axis, letter] : llvm::enumerate(axes.input)) {
      if (!ConvAxes::isSpatial(letter)) {
        slices.push_back(runs().find(letter));
        continue;
      }
      read.push_back(axis);
      indices.push_back(indexOf(letter, typeOf(op.getInput()).getDimSize(axis)));
    }
    Value input = op.getInput();
    if (isPlane(read) && llvm::all_equal(ValueRange(indices).getTypes())) {
      input = mergePlane(read);
      indices = {indexInPlane(indices, read)};
      read.resize(1);
    }
    for (Value &index : indices)
      index = reshaped(index, sizesOfRuns());
    Value made =
        GatherOp::create(builder, loc, input, indices, read, ArrayRef<int64_t>(), ArrayRef<int64_t>(), slices,
                         Outside::fill, llvm::APFloat(0.0), PermissionsAttr());
    return {reshaped(made, sizesOf(letters)), letters};
  }

private:
  /// The elements that windows of one element read, with an axis for the element.
  LetteredTensor elementsOfPlaces() {
    SmallVector<int64_t> strides, shape;
    SmallVector<Value> open;
    for (char letter : axes.input)
      strides.push_back(ConvAxes::isSpatial(letter) ? windows[letter - '0'].stride : 1);
    SmallVector<OpFoldResult> sizes = sizesOf(axes.input);
    dispatchIndexOpFoldResults(sizes, open, shape);
    Value read = SliceOp::create(builder, loc, typeOf(op.getInput()).clone(shape), op.getInput(),
                                 SmallVector<int64_t>(shape.size(), 0), strides, open, PermissionsAttr());
    // Beside the channels that are summed, with which they are merged.
    size_t at =
        axes.input.find_if([&](char letter) { return isSlice(letter) && !axes.result.contains(letter); });
    std::string made = axes.input.str(), steps = withStepLetters(digits());
    made.insert(at, steps);
    sizes.insert(sizes.begin() + at, steps.size(), builder.getIndexAttr(1));
    return {reshaped(read, sizes), made};
  }

  std::string digits() const {
    SmallVector<char> summed = axes.summed();
    std::string made(summed.begin(), summed.end());
    llvm::erase_if(made, [](char letter) { return !ConvAxes::isSpatial(letter); });
    return made;
  }

  bool isSlice(char letter) const { return !ConvAxes::isSpatial(letter) && axes.input.contains(letter); }

  /// One letter for indices that are side by side: kernels divide by the sizes of fewer axes.
  std::string runs() const {
    std::string made;
    for (char letter : letters)
      if (isSlice(letter) || made.empty() || made.back() != kIndices)
        made += isSlice(letter) ? letter : kIndices;
    return made;
  }

  /// The axes that are no indices are in the order of the input, as those of a gather are.
  void keepOrderOfSlices() {
    StringRef input = axes.input;
    for (char &letter : letters)
      if (isSlice(letter)) {
        letter = input[input.find_if([&](char other) { return isSlice(other); })];
        input = input.drop_front(input.find(letter) + 1);
      }
  }

  /// How many places the window has along an axis, how many elements, or the size of another axis; open where
  /// the types leave it open.
  OpFoldResult sizeOfLetter(char letter) {
    if (isSlice(letter))
      return sizeByType(builder, loc, op.getInput(), axes.input.find(letter));
    bool isPlace = ConvAxes::isSpatial(letter);
    char digit = isPlace ? letter : digitOf(letter);
    OpFoldResult elements = sizeByType(builder, loc, op.getFilter(), axes.filter.find(digit));
    if (!isPlace)
      return elements;
    int64_t known = typeOf(op.getResult()).getDimSize(axes.result.find(digit));
    if (!ShapedType::isDynamic(known))
      return builder.getIndexAttr(known);
    OpFoldResult size = sizeOf(builder, loc, op.getInput(), axes.input.find(digit));
    size = windows[digit - '0'].places(builder, loc, size, elements);
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }

  SmallVector<OpFoldResult> sizesOf(StringRef some) {
    return llvm::map_to_vector(some, [&](char letter) { return sizeOfLetter(letter); });
  }

  Value reshaped(Value value, ArrayRef<OpFoldResult> sizes) {
    SmallVector<int64_t> shape;
    SmallVector<Value> open;
    dispatchIndexOpFoldResults(sizes, open, shape);
    RankedTensorType type = typeOf(value).clone(shape);
    return type == value.getType() ? value
                                   : ReshapeOp::create(builder, loc, type, value, open, PermissionsAttr());
  }

  /// The product of sizes for each run of indices.
  SmallVector<OpFoldResult> sizesOfRuns() {
    SmallVector<OpFoldResult> sizes;
    bool isRun = false;
    for (char letter : letters) {
      if (isSlice(letter)) {
        isRun = false;
        continue;
      }
      OpFoldResult size = sizeOfLetter(letter);
      if (isRun)
        sizes.back() = mulSizes(builder, loc, sizes.back(), size);
      else
        sizes.push_back(size);
      isRun = true;
    }
    return sizes;
  }

  /// The elements that windows read along an axis, of as many as the input may have.
  Value indexOf(char digit, int64_t size) {
    const WindowAxis &window = windows[digit - '0'];
    // Places and their elements lie in the padded input, which is as long as the sum of the first three.
    bool isShort =
        !ShapedType::isDynamic(size) &&
        llvm::all_of(ArrayRef<int64_t>{size, window.low, window.high, window.reach()},
                     [](int64_t part) { return std::abs(part) <= std::numeric_limits<int32_t>::max() / 4; });
    Type element = isShort ? builder.getI32Type() : builder.getI64Type();
    std::string indices = letters;
    llvm::erase_if(indices, [&](char letter) { return isSlice(letter); });
    SmallVector<int64_t> shape;
    SmallVector<Value> open;
    dispatchIndexOpFoldResults(sizesOf(indices), open, shape);
    auto type = RankedTensorType::get(shape, element);
    auto constant = [&](int64_t value) { return integerConstant(builder, loc, element, value); };
    auto along = [&](char letter, int64_t factor) -> Value {
      Value number = IotaOp::create(builder, loc, type, open, indices.find(letter), PermissionsAttr());
      return factor == 1 ? number : MulOp::create(builder, loc, number, constant(factor), PermissionsAttr());
    };
    Value index = AddOp::create(builder, loc, along(digit, window.stride),
                                along(stepLetter(digit), window.dilation), PermissionsAttr());
    if (window.low != 0)
      index = SubOp::create(builder, loc, index, constant(window.low), PermissionsAttr());
    return index;
  }

  /// Whether the spatial axes are neighbours of known sizes, so that one index will do for all. A slice would
  /// be copied.
  bool isPlane(ArrayRef<int64_t> spatial) {
    if (viewKindOf(op.getInput().getDefiningOp()) != ViewKind::none)
      return false;
    ArrayRef<int64_t> shape = typeOf(op.getInput()).getShape();
    int64_t elements = 1;
    for (int64_t axis : spatial)
      if (shape[axis] <= 0 || llvm::MulOverflow(elements, shape[axis], elements))
        return false;
    return spatial.size() > 1 && spatial.back() - spatial.front() + 1 == int64_t(spatial.size()) &&
           elements <= std::numeric_limits<int32_t>::max();
  }

  Value mergePlane(ArrayRef<int64_t> spatial) {
    RankedTensorType type = typeOf(op.getInput());
    SmallVector<int64_t> shape(type.getShape().take_front(spatial.front()));
    shape.push_back(1);
    for (int64_t axis : spatial)
      shape.back() *= type.getDimSize(axis);
    llvm::append_range(shape, type.getShape().drop_front(spatial.back() + 1));
    return ReshapeOp::create(builder, loc, type.clone(shape), op.getInput(),
                             dynamicSizes(builder, loc, op.getInput()), PermissionsAttr());
  }

  /// The number of an element in the plane, -1 where one of its indices is outside.
  Value indexInPlane(ArrayRef<Value> indices, ArrayRef<int64_t> spatial) {
    auto integer = [&](int64_t value) {
      return integerConstant(builder, loc, typeOf(indices.front()).getElementType(), value);
    };
    Value number, isInside;
    auto require = [&](ComparePredicate predicate, Value index, int64_t bound) {
      Value holds = CompareOp::create(builder, loc, predicate, index, integer(bound), PermissionsAttr());
      isInside =
          isInside ? AndOp::create(builder, loc, isInside, holds, PermissionsAttr()).getResult() : holds;
    };
    for (auto [index, axis] : llvm::zip_equal(indices, spatial)) {
      int64_t size = typeOf(op.getInput()).getDimSize(axis);
      number =
          number ? MulOp::create(builder, loc, number, integer(size), PermissionsAttr()).getResult() : number;
      number = number ? AddOp::create(builder, loc, number, index, PermissionsAttr()).getResult() : index;
      if (windows[axes.input[axis] - '0'].isUnpadded())
        continue;
      require(ComparePredicate::ge, index, 0);
      require(ComparePredicate::lt, index, size);
    }
    return isInside
               ? SelectOp::create(builder, loc, isInside, number, integer(-1), PermissionsAttr()).getResult()
               : number;
  }

  OpBuilder &builder;
  Location loc;
  ConvOp op;
  ConvAxes axes;
  SmallVector<WindowAxis> windows;
  std::string letters;
};

/// Before an input is padded by an operation of its own.
struct PatchesOfConv : NumericsPattern<ConvOp> {
  explicit PatchesOfConv(MLIRContext *context)
      : NumericsPattern(context, "patches-of-conv", Permissions::none, /*benefit=*/2) {}

  LogicalResult match(ConvOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    ConvAxes axes = *ConvAxes::split(op.getDims());
    auto isSpread = [](const WindowAxis &window) { return window.inputDilation != 1; };
    if (axes.spatialRank() == 0 || llvm::any_of(op.getWindowAxes(), isSpread))
      return rewriter.notifyMatchFailure(op, "expected windows over an input without zeros between elements");
    for (auto [digit, window] : llvm::enumerate(op.getWindowAxes())) {
      int64_t places = op.getType().getDimSize(axes.result.find(static_cast<char>('0' + digit)));
      auto isFew = [](int64_t count) {
        return !ShapedType::isDynamic(count) && count > 0 && count <= kMaxCopies;
      };
      if (ShapedType::isDynamic(window.size) || window.size == 0 || places == 0 ||
          (!isFew(window.size) && !isFew(places)))
        return rewriter.notifyMatchFailure(op, "expected few elements in a window, or few places");
    }
    if (llvm::all_of(op.getWindowAxes(), [](const WindowAxis &window) {
          return window.size == 1 && window.stride == 1 && window.isUnpadded();
        }))
      return rewriter.notifyMatchFailure(op, "expected windows of several elements, strides or padding");
    auto isOnePlace = [&](auto axis) {
      return !ConvAxes::isSpatial(std::get<0>(axis)) || std::get<1>(axis) == 1;
    };
    if (llvm::all_of(llvm::zip_equal(axes.result, op.getType().getShape()), isOnePlace))
      return rewriter.notifyMatchFailure(op, "expected several places: else the padded input will do");
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
