// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Range, mean and fingerprint of a tensor.
#include "adjoint/Diff/Statistics.h"
#include "Elements.h"
#include "adjoint/Support/Elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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

// One chain for each lane, which the compiler does not make of one chain itself. Comparisons with NaN are
// false.
void StatisticsBuilder::noteRange(const double *values, int64_t count) {
  constexpr int64_t lanes = 8;
  double least[lanes], most[lanes];
  std::fill(least, least + lanes, result.min);
  std::fill(most, most + lanes, result.max);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      double value = values[i + lane];
      least[lane] = value < least[lane] ? value : least[lane];
      most[lane] = value > most[lane] ? value : most[lane];
    }
  for (; i < count; ++i) {
    least[0] = values[i] < least[0] ? values[i] : least[0];
    most[0] = values[i] > most[0] ? values[i] : most[0];
  }
  result.min = *std::min_element(least, least + lanes);
  result.max = *std::max_element(most, most + lanes);
}

void StatisticsBuilder::noteIntegers(const char *elements, int64_t count) {
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
  if (isFloat(type))
    noteRange(values, count);
  else
    noteIntegers(elements, count);
  if (type == ADRT_I64) {
    int64_t integers[blockElements];
    std::memcpy(integers, elements, static_cast<size_t>(count) * sizeof(int64_t));
    fingerprint.add(integers, count);
  } else {
    fingerprint.add(values, count);
  }
  int64_t nans = 0;
  for (int64_t i = 0; i < count; ++i) {
    bool isNaN = std::isnan(values[i]);
    nans += isNaN;
    values[i] = isNaN ? 0 : values[i];
  }
  result.nans += nans;
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
