// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions in forms that kernels have: padding is an operation of its own, and a convolution with one
// element of the filter, or one place of it, along each spatial axis is a contraction. All add the same
// products in the same order.

#include "DecomposeConv.h"
#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

std::string ad::withStepLetters(StringRef letters) {
  std::string made = letters.str();
  for (char &letter : made)
    if (ConvAxes::isSpatial(letter))
      letter = stepLetter(letter);
  return made;
}

Value ad::productOf(OpBuilder &builder, ConvOp op, Location loc, const LetteredTensor &input,
                    const LetteredTensor &filter) {
  StringRef result = ConvAxes::split(op.getDims())->result;
  SmallVector<int64_t> inputBatch, filterBatch, inputContract, filterContract;
  std::string made;
  for (auto [axis, letter] : llvm::enumerate(filter.letters)) {
    size_t other = input.letters.find(letter);
    if (other == std::string::npos)
      continue;
    bool isBatch = result.contains(letter);
    (isBatch ? inputBatch : inputContract).push_back(other);
    (isBatch ? filterBatch : filterContract).push_back(axis);
    if (isBatch)
      made += letter;
  }
  auto appendFree = [&](StringRef letters, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    for (auto [axis, letter] : llvm::enumerate(letters))
      if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis))
        made += letter;
  };
  appendFree(input.letters, inputBatch, inputContract);
  appendFree(filter.letters, filterBatch, filterContract);
  SmallVector<int64_t> shape, permutation;
  for (char letter : made)
    shape.push_back(typeOf(op.getResult()).getDimSize(result.find(letter)));
  for (char letter : result)
    if (size_t axis = made.find(letter); axis != std::string::npos)
      permutation.push_back(axis);
  Value product = DotOp::create(builder, loc, typeOf(op.getResult()).clone(shape), input.tensor,
                                filter.tensor, inputBatch, filterBatch, inputContract, filterContract,
                                op.getOrderAttr(), op.getAllowAttr());
  if (!llvm::is_sorted(permutation))
    product = TransposeOp::create(builder, loc, product, permutation, PermissionsAttr());
  if (made.size() == result.size())
    return product;
  return ReshapeOp::create(builder, loc, op.getType(), product, dynamicSizes(builder, loc, product),
                           PermissionsAttr());
}

namespace {
class PaddedInput {
public:
  PaddedInput(OpBuilder &builder, Location loc, const ConvAxes &axes, ArrayRef<WindowAxis> windows,
              Value input)
      : builder(builder), loc(loc), axes(axes), windows(windows), value(input) {}

  Value build() {
    pad();
    crop();
    return value;
  }

private:
  /// The window along an axis of the input; one of size 1 along axes that are not spatial.
  WindowAxis windowOf(int64_t axis) const {
    char letter = axes.input[axis];
    return ConvAxes::isSpatial(letter) ? windows[letter - '0'] : WindowAxis();
  }

  void pad() {
    SmallVector<int64_t> low, high, interior;
    for (int64_t axis = 0; axis < typeOf(value).getRank(); ++axis) {
      WindowAxis window = windowOf(axis);
      low.push_back(std::max<int64_t>(window.low, 0));
      high.push_back(std::max<int64_t>(window.high, 0));
      interior.push_back(window.inputDilation - 1);
    }
    auto isZero = [](int64_t count) { return count == 0; };
    if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero) && llvm::all_of(interior, isZero))
      return;
    Value zero = zeroOf(builder, loc, typeOf(value).getElementType());
    value = PadOp::create(builder, loc, value, zero, low, high, interior, PermissionsAttr());
  }

  void crop() {
    SmallVector<int64_t> offsets, shape;
    SmallVector<Value> sizes;
    bool isCropped = false;
    for (int64_t axis = 0; axis < typeOf(value).getRank(); ++axis) {
      WindowAxis window = windowOf(axis);
      int64_t before = std::max<int64_t>(-window.low, 0), after = std::max<int64_t>(-window.high, 0);
      isCropped |= before > 0 || after > 0;
      offsets.push_back(before);
      OpFoldResult size = remaining(axis, before + after);
      if (auto open = dyn_cast<Value>(size))
        sizes.push_back(open);
      shape.push_back(isa<Value>(size) ? ShapedType::kDynamic : *getConstantIntValue(size));
    }
    if (isCropped)
      value = SliceOp::create(builder, loc, typeOf(value).clone(shape), value, offsets,
                              SmallVector<int64_t>(shape.size(), 1), sizes, PermissionsAttr());
  }

  /// The elements along an axis without so many, or none. Open sizes stay open: the result has them too.
  OpFoldResult remaining(int64_t axis, int64_t removed) {
    int64_t known = typeOf(value).getDimSize(axis);
    if (!ShapedType::isDynamic(known))
      return builder.getIndexAttr(std::max<int64_t>(known - removed, 0));
    Value size = getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, value, axis));
    Value less =
        arith::SubIOp::create(builder, loc, size, arith::ConstantIndexOp::create(builder, loc, removed));
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return OpFoldResult(Value(arith::MaxSIOp::create(builder, loc, less, zero)));
  }

  OpBuilder &builder;
  Location loc;
  const ConvAxes &axes;
  ArrayRef<WindowAxis> windows;
  Value value;
};
} // namespace

Value ad::zeroOf(OpBuilder &builder, Location loc, Type element) {
  return isa<FloatType>(element) ? scalarConstant(builder, loc, element, 0.0)
                                 : integerConstant(builder, loc, element, 0);
}

Value ad::padInput(OpBuilder &builder, Location loc, const ConvAxes &axes, ArrayRef<WindowAxis> windows,
                   Value input) {
  return PaddedInput(builder, loc, axes, windows, input).build();
}

namespace {
struct PadInputOfConv : NumericsPattern<ConvOp> {
  explicit PadInputOfConv(MLIRContext *context) : NumericsPattern(context, "pad-input-of-conv") {}

  LogicalResult match(ConvOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (op.isUnpadded())
      return rewriter.notifyMatchFailure(op, "expected an input that is padded");
    return success();
  }

  void rewrite(ConvOp op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    Value input =
        padInput(rewriter, steps.loc, *ConvAxes::split(op.getDims()), op.getWindowAxes(), op.getInput());
    auto made =
        ConvOp::create(rewriter, steps.loc, typeOf(op.getResult()), input, op.getFilter(), op.getDims(),
                       op.getStrides(), ArrayRef<int64_t>(), ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                       op.getFilterDilation(), op.getOrderAttr(), op.getAllowAttr());
    rewriter.replaceOp(op, made);
  }
};

/// A filter of one element along each spatial axis, which reads each element once.
struct PointwiseConv : NumericsPattern<ConvOp> {
  explicit PointwiseConv(MLIRContext *context) : NumericsPattern(context, "pointwise-conv") {}

  LogicalResult match(ConvOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!op.isUnpadded() || llvm::any_of(op.getWindowAxes(), [](const WindowAxis &window) {
          return window.size != 1 || window.stride != 1;
        }))
      return rewriter.notifyMatchFailure(op, "expected a filter of one element that meets each element");
    ConvAxes axes = *ConvAxes::split(op.getDims());
    if (llvm::all_of(axes.summed(), ConvAxes::isSpatial))
      return rewriter.notifyMatchFailure(op, "expected channels that are summed");
    auto isShared = [&](char letter) { return axes.input.contains(letter) && axes.filter.contains(letter); };
    if (axes.spatialRank() == 0 && llvm::all_of(axes.result, isShared))
      return rewriter.notifyMatchFailure(op,
                                         "expected an axis of one operand: else ad.dot has another order");
    return success();
  }

  void rewrite(ConvOp op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    ConvAxes axes = *ConvAxes::split(op.getDims());
    bool sumsOneLetter = llvm::count_if(axes.summed(), [](char c) { return !ConvAxes::isSpatial(c); }) == 1;
    auto [filter, letters] =
        withoutSpatialAxes(rewriter, steps.loc, op.getFilter(), axes.filter, sumsOneLetter);
    rewriter.replaceOp(
        op, productOf(rewriter, op, steps.loc, {op.getInput(), axes.input.str()}, {filter, letters}));
  }

private:
  // Of a transposed filter, the axes are taken away before it is transposed: the product then reads a
  // transposed matrix. With several summed letters, their order is that of the sum.
  static std::pair<Value, std::string> withoutSpatialAxes(OpBuilder &builder, Location loc, Value filter,
                                                          StringRef part, bool mayReorder) {
    if (auto transposed = filter.getDefiningOp<TransposeOp>(); transposed && mayReorder) {
      std::string before(part.size(), ' ');
      for (auto [axis, from] : llvm::enumerate(transposed.getPermutation()))
        before[from] = part[axis];
      return withoutSpatialAxes(builder, loc, transposed.getInput(), before, mayReorder);
    }
    SmallVector<int64_t> shape;
    std::string letters;
    for (auto [letter, size] : llvm::zip_equal(part, typeOf(filter).getShape()))
      if (!ConvAxes::isSpatial(letter)) {
        letters += letter;
        shape.push_back(size);
      }
    return {ReshapeOp::create(builder, loc, typeOf(filter).clone(shape), filter,
                              dynamicSizes(builder, loc, filter), PermissionsAttr()),
            letters};
  }
};

/// One place of the window, such as the gradient of a filter of one element along each spatial axis: the sum
/// runs over the axes of the window, which are those of a product.
struct ConvOfOnePlace : NumericsPattern<ConvOp> {
  explicit ConvOfOnePlace(MLIRContext *context) : NumericsPattern(context, "conv-of-one-place") {}

  LogicalResult match(ConvOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    ConvAxes axes = *ConvAxes::split(op.getDims());
    SmallVector<WindowAxis> windows = op.getWindowAxes();
    if (!op.isUnpadded() || llvm::all_of(windows, [](const WindowAxis &window) { return window.size == 1; }))
      return rewriter.notifyMatchFailure(op, "expected a filter of several elements over an unpadded input");
    bool isFree = false;
    for (auto [letter, size] : llvm::zip_equal(axes.result, op.getType().getShape())) {
      isFree |= !axes.input.contains(letter) || !axes.filter.contains(letter);
      if (!ConvAxes::isSpatial(letter))
        continue;
      int64_t window = windows[letter - '0'].size;
      if (size != 1 || window < 1 ||
          ShapedType::isDynamic(typeOf(op.getInput()).getDimSize(axes.input.find(letter))))
        return rewriter.notifyMatchFailure(op, "expected one place of the window along each spatial axis");
    }
    if (!isFree)
      return rewriter.notifyMatchFailure(op,
                                         "expected an axis of one operand: else ad.dot has another order");
    return success();
  }

  void rewrite(ConvOp op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    ConvAxes axes = *ConvAxes::split(op.getDims());
    LetteredTensor input{elementsOfWindow(rewriter, steps.loc, op, axes), withStepLetters(axes.input)};
    rewriter.replaceOp(
        op, productOf(rewriter, op, steps.loc, input, {op.getFilter(), withStepLetters(axes.filter)}));
  }

private:
  static Value elementsOfWindow(OpBuilder &builder, Location loc, ConvOp op, const ConvAxes &axes) {
    Value input = op.getInput();
    SmallVector<int64_t> shape(typeOf(input).getShape()), offsets(shape.size(), 0), strides(shape.size(), 1);
    for (auto [axis, letter] : llvm::enumerate(axes.input))
      if (ConvAxes::isSpatial(letter)) {
        WindowAxis window = op.getWindowAxes()[letter - '0'];
        shape[axis] = window.size;
        strides[axis] = window.dilation;
      }
    if (ArrayRef(shape) == typeOf(input).getShape())
      return input;
    return SliceOp::create(builder, loc, typeOf(input).clone(shape), input, offsets, strides,
                           dynamicSizes(builder, loc, input), PermissionsAttr());
  }
};
} // namespace

void ad::populateDecomposeConvPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvOfOnePlace, PadInputOfConv, PointwiseConv>(patterns.getContext());
  populatePhasesOfConvPatterns(patterns);
}
