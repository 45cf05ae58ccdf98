// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Small tensors for the tests of ad-diff.
#ifndef ADJOINT_TEST_DIFF_TESTTENSORS_H
#define ADJOINT_TEST_DIFF_TESTTENSORS_H

#include "adjoint/Support/Elements.h"
#include "adjoint/Support/Tensor.h"

#include <vector>

namespace unit {

using mlir::ad::runner::Tensor;

/// A tensor with these values, each rounded to the type.
inline Tensor makeTensor(adrt_type type, std::vector<int64_t> shape, const std::vector<double> &values) {
  Tensor tensor = llvm::cantFail(Tensor::create(type, shape));
  for (size_t i = 0; i < values.size(); ++i)
    adrt::storeFromDouble(type, values[i], tensor.getData() + i * adrt::elementSize(type));
  return tensor;
}

inline Tensor arange(adrt_type type, std::vector<int64_t> shape) {
  Tensor tensor = llvm::cantFail(Tensor::create(type, shape));
  for (int64_t i = 0; i < tensor.getElementCount(); ++i)
    adrt::storeFromInteger(type, i, tensor.getData() + i * adrt::elementSize(type));
  return tensor;
}

} // namespace unit

#endif // ADJOINT_TEST_DIFF_TESTTENSORS_H
