// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums in the order of numpy.sum.
#include "adjoint/Diff/PairwiseSum.h"

#include <algorithm>

using namespace mlir::ad::diff;

namespace {

constexpr int64_t chains = 8;

double sumBlock(const double *values, int64_t count) {
  if (count < chains) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += values[i];
    return sum;
  }
  double sums[chains];
  std::copy(values, values + chains, sums);
  int64_t whole = count - count % chains;
  for (int64_t i = chains; i < whole; i += chains)
    for (int64_t chain = 0; chain < chains; ++chain)
      sums[chain] += values[i + chain];
  double sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (int64_t i = whole; i < count; ++i)
    sum += values[i];
  return sum;
}

} // namespace

// To the first block of the next `count` values.
void PairwiseSum::descend(int64_t count) {
  while (count > maxBlock) {
    int64_t left = count / 2;
    left -= left % chains;
    path.push_back({count - left, 0, false});
    count = left;
  }
  blockCount = count;
}

void PairwiseSum::finishBlock(double sum) {
  while (!path.empty() && path.back().hasLeft) {
    sum = path.back().left + sum;
    path.pop_back();
  }
  if (path.empty()) {
    result = sum;
    blockCount = 0;
    return;
  }
  path.back().left = sum;
  path.back().hasLeft = true;
  descend(path.back().rightCount);
}

void PairwiseSum::add(const double *values, int64_t count) {
  while (count > 0 && blockCount > 0) {
    int64_t taken = std::min(blockCount - pending, count);
    if (taken == blockCount) {
      finishBlock(sumBlock(values, taken));
    } else {
      std::copy(values, values + taken, partial + pending);
      pending += taken;
      if (pending == blockCount) {
        pending = 0;
        finishBlock(sumBlock(partial, blockCount));
      }
    }
    values += taken;
    count -= taken;
  }
}
