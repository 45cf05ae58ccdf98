// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows that move along an axis, and the letters of a convolution's axes.

#ifndef ADJOINT_DIALECT_AD_IR_WINDOWAXIS_H
#define ADJOINT_DIALECT_AD_IR_WINDOWAXIS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace mlir::ad {
/// A window along one axis. Element k of place i is element i * stride + k * dilation - low of the input with
/// inputDilation - 1 elements between neighbours.
struct WindowAxis {
  int64_t size = 1; ///< of the window; may be dynamic
  int64_t stride = 1, dilation = 1, low = 0, high = 0, inputDilation = 1;

  bool isUnpadded() const { return low == 0 && high == 0 && inputDilation == 1; }
  /// From one element of the window to the last, in elements of the padded input. An empty window counts as
  /// one element.
  int64_t reach() const { return (std::max<int64_t>(size, 1) - 1) * dilation; }
  /// How many places there are along an axis of so many elements; dynamic if the size or the window is.
  int64_t places(int64_t elements) const;
  /// The same at run time. `window` is the size of the window.
  OpFoldResult places(OpBuilder &builder, Location loc, OpFoldResult elements, OpFoldResult window) const;
  /// The `high` with which there are so many places along an axis of so many elements.
  int64_t highFor(int64_t places, int64_t elements) const;
  /// The element of the padded input, before `low` is taken away.
  AffineExpr element(AffineExpr place, AffineExpr step) const { return place * stride + step * dilation; }
};

/// Whether elements of the filter that meet zeros between the elements of the input take no part in the sum
/// of a convolution with these windows. They do where there are many zeros: each place in a period would be a
/// convolution of its own.
bool skipsInsertedZeros(ArrayRef<WindowAxis> windows);

/// The letters of a convolution, "INPUT,FILTER->RESULT".
struct ConvAxes {
  /// The parts of the text; none if it has another form. They live as long as the text.
  static std::optional<ConvAxes> split(StringRef dims);

  static bool isSpatial(char letter) { return letter >= '0' && letter <= '9'; }
  int64_t spatialRank() const { return llvm::count_if(filter, isSpatial); }
  /// The letters of the filter over which the result is a sum, in the order of summation.
  SmallVector<char> summed() const;
  /// The axes of input and filter that have one letter, and so one size: those of sums and of groups.
  SmallVector<std::pair<int64_t, int64_t>> sharedAxes() const;
  /// The loops: one for each axis of the result, then one for each summed letter.
  unsigned loopCount() const { return result.size() + summed().size(); }
  /// The elements that an iteration reads, without padding.
  AffineMap inputMap(ArrayRef<WindowAxis> windows, MLIRContext *context) const;
  AffineMap filterMap(MLIRContext *context) const;

  StringRef input, filter, result;

private:
  unsigned parallelLoop(char letter) const { return result.find(letter); }
  unsigned summedLoop(char letter) const {
    SmallVector<char> letters = summed();
    return result.size() + (llvm::find(letters, letter) - letters.begin());
  }
};
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_WINDOWAXIS_H
