// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions: constraints, type inference, loops and accesses. A label such as conv_c3 is C3 of ad.conv in
// docs/spec/windows.md.

#include "../ShapeUtils.h"
#include "WindowLists.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"

using namespace mlir;
using namespace mlir::ad;

//===- Constraints -===//

// conv_c2: the letters of the three parts.
static LogicalResult verifyLetters(const ConvAxes &axes, EmitError error) {
  auto sorted = [](StringRef part) {
    std::string letters = part.str();
    llvm::sort(letters);
    return letters;
  };
  auto spatial = [](StringRef part) {
    std::string digits;
    llvm::copy_if(part, std::back_inserter(digits), ConvAxes::isSpatial);
    llvm::sort(digits);
    return digits;
  };
  for (StringRef part : {axes.input, axes.filter, axes.result}) {
    for (char letter : part)
      if (!ConvAxes::isSpatial(letter) && (letter < 'a' || letter > 'z')) // conv_c2
        return error() << "expected dims of lower-case letters and digits, but got '" << part << "'";
    std::string letters = sorted(part);
    if (std::adjacent_find(letters.begin(), letters.end()) != letters.end()) // conv_c2
      return error() << "expected each letter of '" << part << "' once";
    if (spatial(part) != StringRef("0123456789").take_front(axes.spatialRank())) // conv_c2
      return error() << "expected the same digits in all parts of dims, from 0 on, but got '" << part << "'";
    for (char letter : part) {
      int parts = axes.input.contains(letter) + axes.filter.contains(letter) + axes.result.contains(letter);
      if (parts < 2) // conv_c2
        return error() << "expected letter '" << StringRef(&letter, 1) << "' in two parts of dims at least";
    }
  }
  return success();
}

template <typename OpT> static LogicalResult verifyLists(OpT op, int64_t rank, EmitError error) {
  std::tuple<StringRef, DenseI64ArrayAttr, int64_t> lists[] = {
      {"strides", op.getStridesAttr(), 1},
      {"low", op.getLowAttr(), -std::numeric_limits<int32_t>::max()},
      {"high", op.getHighAttr(), -std::numeric_limits<int32_t>::max()},
      {"input_dilation", op.getInputDilationAttr(), 1},
      {"filter_dilation", op.getFilterDilationAttr(), 1}};
  for (auto [name, list, least] : lists)
    if (failed(verifyNumbers(name, numbersOf(list), rank, "spatial axis", least, error))) // conv_c4
      return failure();
  return success();
}

template <typename OpT>
static SmallVector<WindowAxis> windowsOf(OpT op, const ConvAxes &axes, ArrayRef<int64_t> filterShape) {
  SmallVector<WindowAxis> windows(axes.spatialRank());
  for (auto [i, window] : llvm::enumerate(windows)) {
    auto at = [&, number = i](DenseI64ArrayAttr list, int64_t otherwise) {
      return numbersOf(list).empty() ? otherwise : numbersOf(list)[number];
    };
    window.size = filterShape[axes.filter.find('0' + i)];
    window.stride = at(op.getStridesAttr(), 1);
    window.dilation = at(op.getFilterDilationAttr(), 1);
    window.low = at(op.getLowAttr(), 0);
    window.high = at(op.getHighAttr(), 0);
    window.inputDilation = at(op.getInputDilationAttr(), 1);
  }
  return windows;
}

// The shape of the result, after all checks of letters, lists and sizes.
template <typename OpT>
static FailureOr<SmallVector<int64_t>> inferShape(OpT op, RankedTensorType input, RankedTensorType filter,
                                                  StringRef dims, EmitError error) {
  std::optional<ConvAxes> axes = ConvAxes::split(dims);
  if (!axes) // conv_c2
    return error() << "expected dims of the form INPUT,FILTER->RESULT, such as \"b01c,01co->b01o\", but got '"
                   << dims << "'";
  if (failed(verifyLetters(*axes, error)))
    return failure();
  for (auto [part, type, name] : {std::tuple(axes->input, input, "input"), {axes->filter, filter, "filter"}})
    if (int64_t(part.size()) != type.getRank()) // conv_c3
      return error() << "expected a letter of '" << part << "' for each of the " << type.getRank()
                     << " axes of the " << name;
  if (failed(verifyLists(op, axes->spatialRank(), error)))
    return failure();
  for (auto [ofInput, ofFilter] : axes->sharedAxes())
    if (!maySizesAgree(input.getDimSize(ofInput), filter.getDimSize(ofFilter))) // conv_c5
      return error() << "expected axes '" << axes->filter.substr(ofFilter, 1) << "' of one size, but got "
                     << input.getDimSize(ofInput) << " and " << filter.getDimSize(ofFilter);
  SmallVector<WindowAxis> windows = windowsOf(op, *axes, filter.getShape());
  SmallVector<int64_t> shape;
  for (char letter : axes->result) {
    size_t left = axes->input.find(letter), right = axes->filter.find(letter);
    if (ConvAxes::isSpatial(letter))
      shape.push_back(windows[letter - '0'].places(input.getDimSize(left)));
    else
      shape.push_back(left == StringRef::npos ? filter.getDimSize(right)
                      : right == StringRef::npos
                          ? input.getDimSize(left)
                          : commonSize(input.getDimSize(left), filter.getDimSize(right)));
  }
  return shape;
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto filter = dyn_cast<RankedTensorType>(adaptor.getFilter().getType());
  if (!input || !filter)
    return error() << "expected ranked tensors";
  StringRef dims = adaptor.getDimsAttr() ? adaptor.getDims() : StringRef();
  FailureOr<SmallVector<int64_t>> shape = inferShape(adaptor, input, filter, dims, error);
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, input.getElementType()));
  return success();
}

// The verifier says which other types are right.
bool ConvOp::isCompatibleReturnTypes(TypeRange, TypeRange) { return true; }

LogicalResult ConvOp::verify() {
  RankedTensorType input = getInput().getType(), filter = getFilter().getType();
  if (input.getElementType() != filter.getElementType()) // conv_c1
    return emitOpError("expected operands of one element type, but got ")
           << input.getElementType() << " and " << filter.getElementType();
  if (!isOperandOrAccumulator(input.getElementType(), getType().getElementType())) // conv_c1
    return emitOpError("expected a result with elements of type ")
           << input.getElementType() << " or " << accumulatorType(input.getElementType()) << ", but got "
           << getType().getElementType() << "; convert the result with ad.cast";
  FailureOr<SmallVector<int64_t>> shape =
      inferShape(*this, input, filter, getDims(), [&] { return emitOpError(); });
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != getType().getShape()) // conv_c6
    return emitOpError("expected a result of shape ")
           << shapeToString(*shape) << ", but got " << shapeToString(getType().getShape());
  return success();
}

//===- Loops and sizes -===//

SmallVector<WindowAxis> ConvOp::getWindowAxes() {
  return windowsOf(*this, *ConvAxes::split(getDims()), getFilter().getType().getShape());
}

bool ConvOp::isUnpadded() {
  return llvm::all_of(getWindowAxes(), [](const WindowAxis &axis) { return axis.isUnpadded(); });
}

OrderAttr ConvOp::getCanonicalOrder() { return OrderAttr::canonicalBlocks(getContext()); }

SmallVector<utils::IteratorType> ConvOp::getIteratorTypes() {
  ConvAxes axes = *ConvAxes::split(getDims());
  SmallVector<utils::IteratorType> loops(axes.result.size(), utils::IteratorType::parallel);
  loops.append(axes.summed().size(), utils::IteratorType::reduction);
  return loops;
}

// A padded input has no element for some iterations: ad-decompose pads it before.
SmallVector<AffineMap> ConvOp::getAccessMaps() {
  ConvAxes axes = *ConvAxes::split(getDims());
  AffineMap input = isUnpadded() ? axes.inputMap(getWindowAxes(), getContext()) : AffineMap();
  auto result = llvm::map_to_vector(llvm::seq<unsigned>(0, axes.result.size()),
                                    [&](unsigned loop) { return getAffineDimExpr(loop, getContext()); });
  return {input, axes.filterMap(getContext()), AffineMap::get(axes.loopCount(), 0, result, getContext())};
}

LogicalResult ConvOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  ConvAxes axes = *ConvAxes::split(getDims());
  SmallVector<WindowAxis> windows = getWindowAxes();
  SmallVector<OpFoldResult> sizes;
  for (char letter : axes.result) {
    auto size = [&](Value operand, StringRef part) {
      return sizeOf(builder, getLoc(), operand, part.find(letter));
    };
    if (ConvAxes::isSpatial(letter))
      sizes.push_back(windows[letter - '0'].places(builder, getLoc(), size(getInput(), axes.input),
                                                   size(getFilter(), axes.filter)));
    else
      sizes.push_back(axes.input.contains(letter) ? size(getInput(), axes.input)
                                                  : size(getFilter(), axes.filter));
  }
  shapes.push_back(normalizeSizes(builder, getLoc(), getType(), sizes));
  return success();
}
