// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The range, the mean and the fingerprint of a tensor, from its elements part by part.
#ifndef ADJOINT_DIFF_STATISTICS_H
#define ADJOINT_DIFF_STATISTICS_H

#include "adjoint/Diff/Fingerprint.h"
#include "adjoint/Support/Tensor.h"

namespace mlir::ad::diff {

/// Of the elements that are numbers.
struct Statistics {
  double min = 0, max = 0;
  int64_t minInteger = 0, maxInteger = 0; ///< instead of min and max, if the elements are integers
  double mean = 0;                        ///< summed in the order of NumPy, with 0 for each NaN
  int64_t count = 0, nans = 0;
  std::string fingerprint;
};

class StatisticsBuilder {
public:
  StatisticsBuilder(adrt_type type, int64_t total);
  void add(const char *elements, int64_t count);
  Statistics finish() const;

private:
  void addBlock(const char *elements, int64_t count);
  void noteRange(const double *values, int64_t count);
  void noteIntegers(const char *elements, int64_t count);

  adrt_type type;
  Statistics result;
  PairwiseSum sum;
  FingerprintBuilder fingerprint;
};

Statistics describeTensor(const adrt_tensor &tensor);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_STATISTICS_H
