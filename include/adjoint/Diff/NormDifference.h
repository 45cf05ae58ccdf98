// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Norm-wise differences of two tensors: the norm of the difference over the norm of the expected tensor.
// Unlike an element-wise measure they do not depend on how small single elements are, and unlike one with a
// constant in its denominator they do not depend on the magnitude of the tensor.
#ifndef ADJOINT_DIFF_NORMDIFFERENCE_H
#define ADJOINT_DIFF_NORMDIFFERENCE_H

#include "llvm/ADT/ArrayRef.h"

namespace mlir::ad::diff {

/// The Euclidean norm and the largest magnitude of values that come in parts. Squares are of values over a
/// power of two, so that they neither overflow nor underflow (S. Hammarling's `dlassq` in LAPACK).
class VectorNorm {
public:
  /// Adds values times 2^exponent, all of them finite. `largest` is their largest magnitude.
  void add(llvm::ArrayRef<double> values, double largest, int exponent = 0);

  bool isZero() const { return squares == 0; }
  double getLargest() const;
  /// The quotients of both norms; the norms of `difference` itself if the reference is zero.
  static double l2(const VectorNorm &difference, const VectorNorm &reference);
  static double max(const VectorNorm &difference, const VectorNorm &reference);

private:
  double squares = 0; // of the values over 2^scale
  int scale = 0;
  double peak = 0; // the largest magnitude over 2^peakExponent, from 0.5 to 1
  int peakExponent = 0;
};

/// Equal infinities and pairs of NaNs do not differ, and belong to neither norm. Other elements that are not
/// finite are infinitely far apart.
class NormDifference {
public:
  /// The next elements. `difference` has |got - expected| where that is finite.
  void add(llvm::ArrayRef<double> expected, llvm::ArrayRef<double> got, llvm::ArrayRef<double> difference);

  /// ‖got - expected‖ / ‖expected‖.
  double l2() const;
  /// The largest |got - expected| over the largest |expected|.
  double max() const;
  /// The largest finite |expected|.
  double getLargest() const { return reference.getLargest(); }

private:
  void addUnusual(llvm::ArrayRef<double> expected, llvm::ArrayRef<double> got);

  VectorNorm difference, reference;
  bool isFar = false;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_NORMDIFFERENCE_H
