// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The largest differences of two tensors, after `max_diff` of the package onnx-diagnostic. Elements are
// compared as doubles, 64-bit integers without any rounding. A NaN counts as 1e10 and an infinity as the
// largest finite double, so that equal ones do not differ. The norm-wise differences `l2` and `max` are ours.
#ifndef ADJOINT_DIFF_MAXDIFF_H
#define ADJOINT_DIFF_MAXDIFF_H

#include "adjoint/Diff/IntegerSum.h"
#include "adjoint/Diff/NormDifference.h"
#include "adjoint/Diff/PairwiseSum.h"
#include "adjoint/Support/Tensor.h"

#include <limits>
#include <memory>

namespace mlir::ad::diff {

using runner::Shape;

/// What `rel` adds to the magnitude of an expected element.
constexpr double kRelativeBase = 1e-3;

/// How many elements differ by more than a threshold.
struct ThresholdCount {
  double threshold;
  int64_t count = 0;
};

/// The thresholds of `max_diff`.
llvm::ArrayRef<double> getUsualThresholds();

/// What the fields start from, as texts show: of containers the maxima are the integer 0 until an item
/// differs, of empty tensors and of None all fields are.
enum class FieldStart { Floats, IntegerMaxima, Integers };

struct MaxDiff {
  double abs = 0; ///< the largest |got - expected|
  /// `abs` without the rounding of a double, if it is a difference of integers of which one has 64 bits.
  std::optional<uint64_t> integerAbs;
  double rel = 0; ///< the largest |got - expected| / (|expected| + kRelativeBase)
  double l2 = 0;  ///< ‖got - expected‖ / ‖expected‖, by NormDifference; of containers, the largest of an item
  double max = 0; ///< the largest |got - expected| / the largest |expected|, likewise
  double sum = 0; ///< of all |got - expected|
  /// The same without rounding, of such integers, if it has at most 64 bits.
  std::optional<uint64_t> integerSum;
  double n = 0;    ///< the number of elements; an infinity if the values cannot be compared
  double dnan = 0; ///< how many elements are NaN in one of the two tensors
  std::vector<ThresholdCount> rep;
  std::optional<Shape> argm;   ///< the index of the first largest difference
  std::optional<int> dev;      ///< how many pairs of tensors are on different devices
  std::optional<uint64_t> ulp; ///< the largest ULP distance, if both tensors have one element type
  int64_t nanPairs = 0;        ///< how many elements are NaN in both tensors
  double largest = 0;          ///< the largest finite |expected|
  /// The elements at `argm`.
  double expectedAtMax = 0, gotAtMax = 0;
  std::optional<int64_t> expectedIntegerAtMax, gotIntegerAtMax; ///< the same, of integers
  FieldStart start = FieldStart::Floats;
  bool isTensor = false;

  bool isEmptyTensor() const { return isTensor && n == 0; }
  bool isComparable() const { return n != std::numeric_limits<double>::infinity(); }
  /// Whether the tensors have equal values. The ULP distance tells an infinity from the largest finite
  /// double.
  bool isZero() const { return abs == 0 && dnan == 0 && ulp.value_or(0) == 0; }
  /// Whether the constant in the denominator of `rel` is larger than every expected element, so that `rel` of
  /// a tensor of zeros would be less than 0.5.
  bool isRelBlind() const { return isComparable() && !isZero() && largest > 0 && largest < kRelativeBase; }
  /// The largest difference, without rounding if it is one of integers.
  long double exactAbs() const { return integerAbs ? static_cast<long double>(*integerAbs) : abs; }
  /// Takes the largest difference of `other` if it is larger.
  void raiseAbs(const MaxDiff &other);
};

/// |got - expected|, exactly for 64-bit integers. Both numbers are doubles or such integers.
long double exactDistance(long double expected, long double got);

/// All fields are infinite: shapes, lengths or kinds of the values differ.
MaxDiff makeIncomparable();

/// Compares two tensors of one shape part by part.
class MaxDiffBuilder {
public:
  MaxDiffBuilder(adrt_type expectedType, adrt_type gotType, int64_t total, llvm::ArrayRef<double> thresholds);
  /// The next `count` elements of both tensors, in row-major order.
  void add(const char *expected, const char *got, int64_t count);
  /// After all elements: the result for tensors of this shape.
  MaxDiff finish(llvm::ArrayRef<int64_t> shape) const;

private:
  struct Block;
  void addBlock(const char *expected, const char *got, int64_t count);
  void notePosition(const Block &block, const char *expected, const char *got);

  adrt_type expectedType, gotType;
  int64_t expectedBytes, gotBytes, total, done = 0;
  int64_t position = 0; // of the first largest difference
  long double largestDiff = 0;
  bool isExact;     // one of the types has integers of 64 bits
  bool areIntegers; // and both types are integers
  IntegerSum integerSum;
  PairwiseSum sum;
  NormDifference norms;
  MaxDiff result;
};

MaxDiff compareTensors(const adrt_tensor &expected, const adrt_tensor &got,
                       llvm::ArrayRef<double> thresholds = {});

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_MAXDIFF_H
