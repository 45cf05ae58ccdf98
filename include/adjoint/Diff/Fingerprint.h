// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Four letters about the values of a tensor, after `make_summary` of the package onnx-array-api. The elements
// in row-major order are divided into four parts of one length, with zeros at the end. Each letter is the sum
// of a part, truncated, modulo 26; `?` stands for NaN and for sums of 1e10 and more.
#ifndef ADJOINT_DIFF_FINGERPRINT_H
#define ADJOINT_DIFF_FINGERPRINT_H

#include "adjoint/Diff/IntegerSum.h"
#include "adjoint/Diff/PairwiseSum.h"
#include "adjoint/Runtime/adrt.h"

#include <cstdint>
#include <string>

namespace mlir::ad::diff {

class FingerprintBuilder {
public:
  explicit FingerprintBuilder(int64_t total);
  void add(const double *values, int64_t count);
  /// 64-bit integers, whose sums have no rounding. All values are integers or none is.
  void add(const int64_t *values, int64_t count);
  /// The letters, once all values have been added.
  std::string finish() const;

private:
  /// Adds values part by part; `addTo` adds some to the current one.
  template <class Values, class AddTo> void addParts(Values values, int64_t count, AddTo addTo);

  int64_t partLength, room; // of the current part
  size_t part = 0;
  PairwiseSum sums[4];
  IntegerSum integerSums[4];
};

std::string fingerprint(const adrt_tensor &tensor);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_FINGERPRINT_H
