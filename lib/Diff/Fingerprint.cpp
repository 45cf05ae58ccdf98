// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Fingerprints of tensors.
#include "adjoint/Diff/Fingerprint.h"
#include "adjoint/Diff/Statistics.h"

#include <algorithm>
#include <cmath>

using namespace mlir::ad::diff;

namespace {

constexpr int64_t parts = 4;

char letterOf(double sum) {
  constexpr double limit = 1e10;
  constexpr int64_t letters = 26;
  if (!(std::fabs(sum) < limit))
    return '?';
  int64_t remainder = static_cast<int64_t>(sum) % letters;
  return static_cast<char>('A' + (remainder + letters) % letters);
}

} // namespace

FingerprintBuilder::FingerprintBuilder(int64_t total)
    : partLength(total / parts + (total % parts != 0)), room(partLength),
      sums{PairwiseSum(partLength), PairwiseSum(partLength), PairwiseSum(partLength),
           PairwiseSum(partLength)} {}

template <class Values, class AddTo>
void FingerprintBuilder::addParts(Values values, int64_t count, AddTo addTo) {
  while (count > 0) {
    int64_t step = std::min(room, count);
    addTo(part, values, step);
    values += step;
    count -= step;
    room -= step;
    if (room == 0) {
      ++part;
      room = partLength;
    }
  }
}

void FingerprintBuilder::add(const double *values, int64_t count) {
  addParts(values, count,
           [&](size_t number, const double *some, int64_t step) { sums[number].add(some, step); });
}

void FingerprintBuilder::add(const int64_t *values, int64_t count) {
  addParts(values, count, [&](size_t number, const int64_t *some, int64_t step) {
    for (int64_t i = 0; i < step; ++i)
      integerSums[number].add(some[i]);
  });
}

// The sums of parts that have not ended lack only zeros; those of ended parts have no room left.
std::string FingerprintBuilder::finish() const {
  FingerprintBuilder padded = *this;
  const double zeros[parts] = {};
  while (partLength > 0 && padded.part < parts)
    padded.add(zeros, std::min(padded.room, parts));
  std::string letters;
  for (size_t number = 0; number < parts; ++number)
    letters += letterOf(padded.sums[number].getResult() + integerSums[number].toDouble());
  return letters;
}

std::string mlir::ad::diff::fingerprint(const adrt_tensor &tensor) {
  return describeTensor(tensor).fingerprint;
}
