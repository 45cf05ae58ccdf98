// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Differences of tensors. Elements are taken in blocks that stay in the first-level cache. A block whose
// largest difference is below a threshold is not counted again for it, so few blocks need more than one pass.
#include "adjoint/Diff/MaxDiff.h"
#include "adjoint/Diff/Elements.h"
#include "adjoint/Support/Elements.h"

#include <algorithm>
#include <cmath>

using namespace mlir::ad;
using namespace mlir::ad::diff;

namespace {

constexpr int64_t lanes = 8;
constexpr int64_t blockElements = 1024;
constexpr double nanValue = 1e10;

/// What is compared in place of NaN and of infinities.
inline double clean(double value) {
  constexpr double largest = std::numeric_limits<double>::max();
  value = value != value ? nanValue : value;
  value = value > largest ? largest : value;
  return value < -largest ? -largest : value;
}

} // namespace

/// The elements of one block, padded with zeros to whole groups of lanes.
struct MaxDiffBuilder::Block {
  alignas(64) double expected[blockElements], got[blockElements], diff[blockElements];
  int64_t count;
  double abs = 0, rel = 0;
  int64_t nanExpected = 0, nanGot = 0, nanBoth = 0;

  void load(adrt_type expectedType, const char *expectedData, adrt_type gotType, const char *gotData) {
    toDoubles(expectedType, expectedData, count, expected);
    toDoubles(gotType, gotData, count, got);
    int64_t padded = (count + lanes - 1) / lanes * lanes;
    std::fill(expected + count, expected + padded, 0);
    std::fill(got + count, got + padded, 0);
  }

  // One chain for each lane: the compiler may not reorder reductions of doubles by itself.
  void compare() {
    double maxAbs[lanes] = {}, maxRel[lanes] = {}, nans[3][lanes] = {};
    for (int64_t i = 0; i < count; i += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        double e = expected[i + lane], g = got[i + lane];
        double eNaN = e != e, gNaN = g != g;
        nans[0][lane] += eNaN;
        nans[1][lane] += gNaN;
        nans[2][lane] += eNaN * gNaN;
        e = clean(e);
        double d = std::fabs(clean(g) - e);
        diff[i + lane] = d;
        double r = d / (std::fabs(e) + kRelativeBase);
        maxAbs[lane] = d > maxAbs[lane] ? d : maxAbs[lane];
        maxRel[lane] = r > maxRel[lane] ? r : maxRel[lane];
      }
    abs = *std::max_element(maxAbs, maxAbs + lanes);
    rel = *std::max_element(maxRel, maxRel + lanes);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      nanExpected += static_cast<int64_t>(nans[0][lane]);
      nanGot += static_cast<int64_t>(nans[1][lane]);
      nanBoth += static_cast<int64_t>(nans[2][lane]);
    }
  }

  int64_t countAbove(double threshold) const {
    int64_t above = 0;
    for (int64_t i = 0; i < count; ++i)
      above += diff[i] > threshold;
    return above;
  }
};

llvm::ArrayRef<double> diff::getUsualThresholds() {
  static constexpr double thresholds[] = {0, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100};
  return thresholds;
}

MaxDiff diff::makeIncomparable() {
  MaxDiff result;
  result.abs = result.rel = result.l2 = result.max = result.sum = result.n = result.dnan =
      std::numeric_limits<double>::infinity();
  return result;
}

MaxDiffBuilder::MaxDiffBuilder(adrt_type expectedType, adrt_type gotType, int64_t total,
                               llvm::ArrayRef<double> thresholds)
    : expectedType(expectedType), gotType(gotType), expectedBytes(adrt::elementSize(expectedType)),
      gotBytes(adrt::elementSize(gotType)), total(total), sum(total) {
  for (double threshold : thresholds)
    result.rep.push_back({threshold});
  if (expectedType == gotType)
    result.ulp = 0;
  result.n = static_cast<double>(total);
}

void MaxDiffBuilder::notePosition(const Block &block, const char *expected, const char *got, double largest) {
  bool isFirst = done == 0;
  if (!isFirst && !(block.abs > largest))
    return;
  int64_t index = std::find(block.diff, block.diff + block.count, block.abs) - block.diff;
  position = done + index;
  result.expectedAtMax = adrt::loadAsDouble(expectedType, expected + index * expectedBytes);
  result.gotAtMax = adrt::loadAsDouble(gotType, got + index * gotBytes);
}

void MaxDiffBuilder::addBlock(const char *expected, const char *got, int64_t count) {
  Block block;
  block.count = count;
  block.load(expectedType, expected, gotType, got);
  block.compare();
  notePosition(block, expected, got, result.abs);
  sum.add(block.diff, count);
  auto size = static_cast<size_t>(count);
  norms.add({block.expected, size}, {block.got, size}, {block.diff, size});
  result.abs = std::max(result.abs, block.abs);
  result.rel = std::max(result.rel, block.rel);
  result.nanPairs += block.nanBoth;
  int64_t dnan = block.nanExpected + block.nanGot - 2 * block.nanBoth;
  result.dnan += static_cast<double>(dnan);
  for (ThresholdCount &above : result.rep)
    if (block.abs > above.threshold)
      above.count += block.countAbove(above.threshold);
  // Elements of 64 bits may differ where what is compared does not: large integers, and infinities.
  if (result.ulp && (block.abs > 0 || dnan > 0 || expectedBytes == sizeof(double)))
    result.ulp = std::max(*result.ulp, maxUlpDistance(expectedType, expected, got, count));
  done += count;
}

void MaxDiffBuilder::add(const char *expected, const char *got, int64_t count) {
  while (count > 0) {
    int64_t step = std::min(count, blockElements);
    addBlock(expected, got, step);
    expected += step * expectedBytes;
    got += step * gotBytes;
    count -= step;
  }
}

MaxDiff MaxDiffBuilder::finish(llvm::ArrayRef<int64_t> shape) const {
  MaxDiff diff = result;
  diff.sum = sum.getResult();
  diff.l2 = norms.l2();
  diff.max = norms.max();
  diff.largest = norms.getLargest();
  diff.isTensor = true;
  if (total == 0) {
    diff.start = FieldStart::Integers;
    return diff;
  }
  Shape index(shape.size());
  int64_t rest = position;
  for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
    index[axis] = rest % shape[axis];
  diff.argm = std::move(index);
  return diff;
}

MaxDiff diff::compareTensors(const adrt_tensor &expected, const adrt_tensor &got,
                             llvm::ArrayRef<double> thresholds) {
  llvm::ArrayRef<int64_t> shape(expected.shape, expected.rank);
  if (shape != llvm::ArrayRef<int64_t>(got.shape, got.rank))
    return makeIncomparable();
  int64_t bytes = adrt::byteSize(expected.type, expected.rank, expected.shape);
  int64_t count = bytes / adrt::elementSize(expected.type);
  MaxDiffBuilder builder(static_cast<adrt_type>(expected.type), static_cast<adrt_type>(got.type), count,
                         thresholds);
  builder.add(static_cast<const char *>(expected.data), static_cast<const char *>(got.data), count);
  return builder.finish(shape);
}
