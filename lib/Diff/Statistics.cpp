// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Range, mean and fingerprint of a tensor.
#include "adjoint/Diff/Statistics.h"
#include "adjoint/Diff/Elements.h"
#include "adjoint/Support/Elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::ad::diff;
using mlir::ad::runner::isFloat;

namespace {
constexpr int64_t blockElements = 1024;
} // namespace

StatisticsBuilder::StatisticsBuilder(adrt_type type, int64_t total)
    : type(type), sum(total), fingerprint(total) {
  result.min = std::numeric_limits<double>::infinity();
  result.max = -result.min;
  result.minInteger = std::numeric_limits<int64_t>::max();
  result.maxInteger = std::numeric_limits<int64_t>::min();
}

void StatisticsBuilder::noteRange(const char *elements, const double *values, int64_t count) {
  if (isFloat(type)) {
    // Comparisons with NaN are false.
    for (int64_t i = 0; i < count; ++i) {
      result.min = values[i] < result.min ? values[i] : result.min;
      result.max = values[i] > result.max ? values[i] : result.max;
    }
    return;
  }
  int64_t width = adrt::elementSize(type);
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = adrt::loadAsInteger(type, elements + i * width);
    result.minInteger = std::min(result.minInteger, value);
    result.maxInteger = std::max(result.maxInteger, value);
  }
}

void StatisticsBuilder::addBlock(const char *elements, int64_t count) {
  double values[blockElements];
  toDoubles(type, elements, count, values);
  noteRange(elements, values, count);
  fingerprint.add(values, count);
  for (int64_t i = 0; i < count; ++i) {
    bool isNaN = std::isnan(values[i]);
    result.nans += isNaN;
    values[i] = isNaN ? 0 : values[i];
  }
  sum.add(values, count);
  result.count += count;
}

void StatisticsBuilder::add(const char *elements, int64_t count) {
  int64_t width = adrt::elementSize(type);
  for (int64_t done = 0; done < count; done += blockElements)
    addBlock(elements + done * width, std::min(count - done, blockElements));
}

Statistics StatisticsBuilder::finish() const {
  Statistics statistics = result;
  statistics.mean = sum.getResult() / static_cast<double>(result.count - result.nans);
  statistics.fingerprint = fingerprint.finish();
  return statistics;
}

Statistics mlir::ad::diff::describeTensor(const adrt_tensor &tensor) {
  auto type = static_cast<adrt_type>(tensor.type);
  int64_t count = adrt::byteSize(type, tensor.rank, tensor.shape) / adrt::elementSize(type);
  StatisticsBuilder builder(type, count);
  builder.add(static_cast<const char *>(tensor.data), count);
  return builder.finish();
}
