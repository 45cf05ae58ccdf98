// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions by their meaning: each element of the result is a sum over the elements of the filter, in the
// written order. Elements that padding adds are zeros, which are multiplied like all others. Where elements
// of the filter meet few zeros between the elements of the input, they take no part in the sum.

#include "Accumulation.h"
#include "Interpreter.h"
#include "LinalgLoops.h"
#include "Scalars/Arithmetic.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

namespace {
/// One execution of a convolution.
class Convolution {
public:
  Convolution(ConvOp op, const Tensor &input, const Tensor &filter)
      : axes(*ConvAxes::split(op.getDims())), windows(op.getWindowAxes()), input(input), filter(filter),
        inputStrides(stridesOf(input.getShape())), filterStrides(stridesOf(filter.getShape())),
        letters(axes.summed()) {
    for (auto [digit, window] : llvm::enumerate(windows))
      window.size = filter.getDim(axes.filter.find(static_cast<char>('0' + digit)));
    for (char letter : letters)
      sizes.push_back(filter.getDim(axes.filter.find(letter)));
    skips = skipsInsertedZeros(windows);
  }

  Shape shapeOfResult() const {
    Shape shape;
    for (char letter : axes.result) {
      int64_t size = axes.input.contains(letter) ? input.getDim(axes.input.find(letter))
                                                 : filter.getDim(axes.filter.find(letter));
      shape.push_back(ConvAxes::isSpatial(letter) ? windows[letter - '0'].places(size) : size);
    }
    return shape;
  }

  /// The element of the result at this place.
  template <class T> T sumAt(ArrayRef<int64_t> place, OrderAttr order) const {
    SmallVector<Steps> taken;
    int64_t terms = 1;
    for (size_t i = 0; i < letters.size(); ++i) {
      taken.push_back(stepsTaken(i, place));
      terms *= taken.back().count;
    }
    Shape steps(letters.size());
    auto step = [&](T sum, int64_t term) {
      for (size_t i = letters.size(); i-- > 0;) {
        steps[i] = taken[i].first + term % taken[i].count * taken[i].between;
        term /= taken[i].count;
      }
      std::optional<int64_t> at = inputOffset(place, steps);
      T element = at ? input.data<T>()[*at] : T(0);
      return multiplyAdd(element, filter.data<T>()[filterOffset(place, steps)], sum);
    };
    return accumulate(order, terms, T(0), step, [](T left, T right) { return add(left, right); });
  }

private:
  /// Elements along an axis of the filter, as many apart.
  struct Steps {
    int64_t first, between, count;
  };

  /// Those of the summed letter that take part in the sum at this place.
  Steps stepsTaken(size_t i, ArrayRef<int64_t> place) const {
    if (!skips || !ConvAxes::isSpatial(letters[i]))
      return {0, 1, sizes[i]};
    const WindowAxis &window = windows[letters[i] - '0'];
    int64_t begin = place[axes.result.find(letters[i])] * window.stride - window.low;
    int64_t between = window.inputDilation / std::gcd(window.dilation, window.inputDilation);
    for (int64_t first = 0; first < std::min(between, sizes[i]); ++first)
      if ((begin + first * window.dilation) % window.inputDilation == 0)
        return {first, between, (sizes[i] - first - 1) / between + 1};
    return {0, 1, 0};
  }

  int64_t stepOf(char letter, ArrayRef<int64_t> steps) const {
    return steps[llvm::find(letters, letter) - letters.begin()];
  }

  /// Null where padding added the element.
  std::optional<int64_t> inputOffset(ArrayRef<int64_t> place, ArrayRef<int64_t> steps) const {
    int64_t offset = 0;
    for (auto [axis, letter] : llvm::enumerate(axes.input)) {
      bool isPlaced = axes.result.contains(letter);
      int64_t index = isPlaced ? place[axes.result.find(letter)] : stepOf(letter, steps);
      if (ConvAxes::isSpatial(letter)) {
        const WindowAxis &window = windows[letter - '0'];
        index = index * window.stride + stepOf(letter, steps) * window.dilation - window.low;
        if (index < 0 || index % window.inputDilation != 0)
          return std::nullopt;
        index /= window.inputDilation;
        if (index >= input.getDim(axis))
          return std::nullopt;
      }
      offset += index * inputStrides[axis];
    }
    return offset;
  }

  int64_t filterOffset(ArrayRef<int64_t> place, ArrayRef<int64_t> steps) const {
    int64_t offset = 0;
    for (auto [axis, letter] : llvm::enumerate(axes.filter)) {
      bool isSummed = llvm::is_contained(letters, letter);
      offset += (isSummed ? stepOf(letter, steps) : place[axes.result.find(letter)]) * filterStrides[axis];
    }
    return offset;
  }

  ConvAxes axes;
  SmallVector<WindowAxis> windows;
  const Tensor &input, &filter;
  Shape inputStrides, filterStrides, sizes;
  SmallVector<char> letters;
  bool skips = false;
};
} // namespace

/// Axes that share a letter must have one size; the error names the axis of the filter.
static int32_t checkLetters(ConvOp op, Frame &frame, const Tensor &input, const Tensor &filter) {
  for (auto [ofInput, ofFilter] : ConvAxes::split(op.getDims())->sharedAxes())
    if (input.getDim(ofInput) != filter.getDim(ofFilter))
      return frame.fail(op, ADRT_FAIL_SAME_SIZE, {ofFilter, input.getDim(ofInput), filter.getDim(ofFilter)});
  return ADRT_OK;
}

static int32_t runConv(ConvOp op, Frame &frame) {
  const Tensor given = frame[op.getInput()], weights = frame[op.getFilter()];
  if (int32_t status = checkLetters(op, frame, given, weights))
    return status;
  ElementType type = reference::accumulatorType(given.getType());
  Tensor input = convert(given, type), filter = convert(weights, type);
  Convolution convolution(op, input, filter);
  Shape shape = convolution.shapeOfResult();
  if (int32_t status = frame.checkMemory(op, type, shape))
    return status;
  Tensor result(type, shape);
  withNumber(type, [&](auto tag) {
    using T = decltype(tag);
    T *target = result.data<T>();
    forEachIndex(shape, [&](ArrayRef<int64_t> place) {
      *target++ = convolution.sumAt<T>(place, orderOf(op));
      return ADRT_OK;
    });
  });
  return frame.set(op.getResult(), convert(result, *elementTypeOf(op.getResult().getType())));
}

void mlir::ad::reference::registerConvolution(Semantics &semantics) { semantics.add(runConv); }
