// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Differences of tensors. Elements are taken in blocks that stay in the first-level cache. A block whose
// largest difference is below a threshold is not counted again for it, so few blocks need more than one pass.
#include "adjoint/Diff/MaxDiff.h"
#include "Elements.h"
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

bool isInteger(adrt_type type) { return !mlir::ad::runner::isFloat(type); }
bool isWide(adrt_type type) { return type == ADRT_I64; }

/// An element without rounding; `value` is what it is as a double.
long double exactElement(adrt_type type, const char *elements, int64_t index, double value) {
  if (!isWide(type))
    return clean(value);
  return static_cast<long double>(
      adrt::loadAsInteger(type, elements + index * static_cast<int64_t>(sizeof(int64_t))));
}

} // namespace

// A difference of two 64-bit integers has up to 64 bits, and so has the mantissa of a long double.
static_assert(std::numeric_limits<long double>::digits >= 64, "64-bit integers would be rounded");

/// The elements of one block, padded with zeros to whole groups of lanes.
struct MaxDiffBuilder::Block {
  alignas(64) double expected[blockElements], got[blockElements], diff[blockElements];
  long double exactDiff[blockElements]; ///< of 64-bit integers
  int64_t count;
  double abs = 0, rel = 0;
  long double exactAbs = 0;
  int64_t largestAt = -1;
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
    exactAbs = abs;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      nanExpected += static_cast<int64_t>(nans[0][lane]);
      nanGot += static_cast<int64_t>(nans[1][lane]);
      nanBoth += static_cast<int64_t>(nans[2][lane]);
    }
  }

  /// After `compare`: the differences of 64-bit integers from each other or from other elements.
  void compareExactly(adrt_type expectedType, const char *expectedData, adrt_type gotType,
                      const char *gotData) {
    abs = rel = 0;
    exactAbs = -1;
    for (int64_t i = 0; i < count; ++i) {
      long double e = exactElement(expectedType, expectedData, i, expected[i]);
      long double exact = exactDistance(e, exactElement(gotType, gotData, i, got[i]));
      if (exact > exactAbs) {
        exactAbs = exact;
        largestAt = i;
      }
      exactDiff[i] = exact;
      diff[i] = static_cast<double>(exact);
      abs = std::max(abs, diff[i]);
      rel = std::max(rel, diff[i] / (std::fabs(static_cast<double>(e)) + kRelativeBase));
    }
  }

  int64_t findLargest() const {
    return largestAt >= 0 ? largestAt : std::find(diff, diff + count, abs) - diff;
  }

  int64_t countAbove(double threshold) const {
    int64_t above = 0;
    for (int64_t i = 0; i < count; ++i)
      above += diff[i] > threshold;
    return above;
  }
};

static bool isInteger64(long double value) {
  return std::fabs(value) <= 0x1p63L && std::floor(value) == value;
}

// Other differences are those of doubles, so that they are rounded once.
long double diff::exactDistance(long double expected, long double got) {
  auto e = static_cast<double>(expected), g = static_cast<double>(got);
  bool areDoubles = static_cast<long double>(e) == expected && static_cast<long double>(g) == got;
  if (areDoubles && !(isInteger64(expected) && isInteger64(got)))
    return e == g ? 0 : std::fabs(g - e);
  return std::fabs(got - expected);
}

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

void MaxDiff::raiseAbs(const MaxDiff &other) {
  if (!(other.exactAbs() > exactAbs()))
    return;
  abs = other.abs;
  integerAbs = other.integerAbs;
}

MaxDiffBuilder::MaxDiffBuilder(adrt_type expectedType, adrt_type gotType, int64_t total,
                               llvm::ArrayRef<double> thresholds)
    : expectedType(expectedType), gotType(gotType), expectedBytes(adrt::elementSize(expectedType)),
      gotBytes(adrt::elementSize(gotType)), total(total), isExact(isWide(expectedType) || isWide(gotType)),
      areIntegers(isExact && isInteger(expectedType) && isInteger(gotType)), sum(total) {
  for (double threshold : thresholds)
    result.rep.push_back({threshold});
  if (expectedType == gotType)
    result.ulp = 0;
  result.n = static_cast<double>(total);
}

void MaxDiffBuilder::notePosition(const Block &block, const char *expected, const char *got) {
  bool isFirst = done == 0;
  if (!isFirst && !(block.exactAbs > largestDiff))
    return;
  largestDiff = block.exactAbs;
  int64_t index = block.findLargest();
  const char *e = expected + index * expectedBytes, *g = got + index * gotBytes;
  position = done + index;
  result.expectedAtMax = adrt::loadAsDouble(expectedType, e);
  result.gotAtMax = adrt::loadAsDouble(gotType, g);
  if (isWide(expectedType))
    result.expectedIntegerAtMax = adrt::loadAsInteger(expectedType, e);
  if (isWide(gotType))
    result.gotIntegerAtMax = adrt::loadAsInteger(gotType, g);
}

void MaxDiffBuilder::addBlock(const char *expected, const char *got, int64_t count) {
  Block block;
  block.count = count;
  block.load(expectedType, expected, gotType, got);
  block.compare();
  if (isExact)
    block.compareExactly(expectedType, expected, gotType, got);
  if (areIntegers)
    for (long double exact : llvm::ArrayRef(block.exactDiff).take_front(static_cast<size_t>(count)))
      integerSum.add(static_cast<uint64_t>(exact));
  notePosition(block, expected, got);
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
  // An infinity of f64 counts as the largest finite number in `abs`, which then is 0 for the two of them; the
  // distance in ulp is not.
  if (result.ulp && (block.abs > 0 || dnan > 0 || expectedType == ADRT_F64))
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
  diff.sum = areIntegers ? integerSum.toDouble() : sum.getResult();
  if (areIntegers) {
    diff.integerSum = integerSum.toInteger();
    diff.integerAbs = static_cast<uint64_t>(largestDiff);
  }
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
