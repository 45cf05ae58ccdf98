// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The edit distance of two runs. The table of costs has a band around the diagonal; a row needs only the one
// before it, and what remains of a cell is the step that led there.
#include "adjoint/Diff/Alignment.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::ad::diff;
using mlir::ad::runner::usageError;

namespace {

constexpr double skipCost = 1000;
constexpr int64_t minDelay = 50;
constexpr int64_t maxCells = int64_t(1) << 30;

bool isCommonFloat(llvm::StringRef dtype) {
  return dtype == "float16" || dtype == "float32" || dtype == "float64";
}

double dtypeDistance(llvm::StringRef left, llvm::StringRef right) {
  constexpr double amongFloats = 2, otherwise = 10;
  if (left == right)
    return 0;
  return isCommonFloat(left) && isCommonFloat(right) ? amongFloats : otherwise;
}

bool isSymbolic(const std::vector<Dim> &shape) {
  return llvm::any_of(shape, [](const Dim &dim) { return !dim.symbol.empty(); });
}

double sizeDistance(const Dim &left, const Dim &right) {
  constexpr double unknown = 50;
  if (left == right)
    return 0;
  bool areKnown = left.symbol.empty() && right.symbol.empty();
  return areKnown ? std::fabs(static_cast<double>(left.size) - static_cast<double>(right.size)) : unknown;
}

double elementCount(const std::vector<Dim> &shape) {
  double count = 1;
  for (const Dim &dim : shape)
    count *= static_cast<double>(dim.size);
  return count;
}

double shapeDistance(const std::optional<std::vector<Dim>> &left,
                     const std::optional<std::vector<Dim>> &right) {
  constexpr double otherRank = 100;
  if (!left || !right)
    return left.has_value() == right.has_value() ? 0 : otherRank;
  bool symbolic = isSymbolic(*left) || isSymbolic(*right), sameRank = left->size() == right->size();
  double distance = sameRank ? 0 : otherRank;
  if (!symbolic)
    distance += std::fabs(elementCount(*left) - elementCount(*right));
  if (sameRank)
    for (auto [l, r] : llvm::zip_equal(*left, *right))
      distance += sizeDistance(l, r);
  return distance;
}

double summaryDistance(llvm::StringRef left, llvm::StringRef right) {
  constexpr double otherLength = 1e6;
  if (left.size() != right.size())
    return otherLength;
  double distance = 0;
  for (auto [l, r] : llvm::zip_equal(left, right))
    distance += std::abs(static_cast<int>(l) - static_cast<int>(r));
  return distance;
}

enum class Step : char { None, Both, Left, Right };

class Aligner {
public:
  Aligner(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right)
      : left(left), right(right), leftCount(static_cast<int64_t>(left.size())),
        rightCount(static_cast<int64_t>(right.size())),
        delay(std::max(minDelay, std::abs(leftCount - rightCount) + 1)),
        width(std::min(rightCount, 2 * delay)) {}

  llvm::Expected<Alignment> run();

private:
  static constexpr double unreachable = std::numeric_limits<double>::infinity();

  int64_t begin(int64_t i) const { return std::max<int64_t>(0, i - delay); }
  int64_t end(int64_t i) const { return std::min(rightCount, i + delay); }
  bool isInside(int64_t i, int64_t j) const { return i >= 0 && j >= begin(i) && j < end(i); }
  void fillRow(int64_t i, llvm::ArrayRef<double> above, llvm::MutableArrayRef<double> row);
  std::vector<AlignedPair> followBack() const;

  llvm::ArrayRef<Record> left, right;
  int64_t leftCount, rightCount, delay, width;
  std::vector<Step> steps; // `width` for each row, from its first cell in the band on
};

void Aligner::fillRow(int64_t i, llvm::ArrayRef<double> above, llvm::MutableArrayRef<double> row) {
  auto costAbove = [&](int64_t j) {
    if (i == 0)
      return j == -1 ? 0.0 : unreachable;
    return isInside(i - 1, j) ? above[j - begin(i - 1)] : unreachable;
  };
  for (int64_t j = begin(i); j < end(i); ++j) {
    double pair = distanceOf(left[i], right[j]);
    double before = j > begin(i) ? row[j - 1 - begin(i)] : unreachable;
    // The first one of equal costs is taken.
    const std::pair<double, Step> ways[] = {{costAbove(j - 1) + pair, Step::Both},
                                            {costAbove(j) + skipCost, Step::Left},
                                            {before + skipCost, Step::Right}};
    std::pair<double, Step> best(unreachable, Step::None);
    for (const auto &way : ways)
      if (way.first < best.first)
        best = way;
    row[j - begin(i)] = best.first;
    steps[i * width + j - begin(i)] = best.second;
  }
}

std::vector<AlignedPair> Aligner::followBack() const {
  std::vector<AlignedPair> pairs;
  int64_t i = leftCount - 1, j = rightCount - 1;
  while (i >= 0 && j >= 0) {
    Step step = steps[i * width + j - begin(i)];
    double distance = step == Step::Both ? distanceOf(left[i], right[j]) : skipCost;
    Symbol symbol = step == Step::Left    ? Symbol::OnlyLeft
                    : step == Step::Right ? Symbol::OnlyRight
                    : distance == 0       ? Symbol::Equal
                                          : Symbol::Different;
    pairs.push_back({i, j, symbol, distance});
    i -= step != Step::Right;
    j -= step != Step::Left;
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

llvm::Expected<Alignment> Aligner::run() {
  if (left.empty() || right.empty())
    return usageError("expected records in both runs");
  if (width > maxCells / leftCount)
    return usageError("the runs are too long to be aligned: " + llvm::Twine(leftCount) + " and " +
                      llvm::Twine(rightCount) + " records");
  steps.assign(static_cast<size_t>(leftCount * width), Step::None);
  std::vector<double> above(static_cast<size_t>(width)), row(static_cast<size_t>(width));
  for (int64_t i = 0; i < leftCount; ++i) {
    std::swap(above, row);
    fillRow(i, above, row);
  }
  Alignment alignment;
  alignment.distance = row[rightCount - 1 - begin(leftCount - 1)];
  alignment.pairs = followBack();
  return alignment;
}

} // namespace

double mlir::ad::diff::distanceOf(const Record &left, const Record &right) {
  constexpr double otherKind = 1000, otherOp = 10;
  double distance = left.kind == right.kind ? 0 : otherKind;
  distance += dtypeDistance(left.dtype, right.dtype) + shapeDistance(left.shape, right.shape);
  distance += summaryDistance(left.summary, right.summary);
  distance += left.op == right.op ? 0 : otherOp;
  // Equal fingerprints do not mean equal bits.
  bool onlyBitsDiffer = distance == 0 && compareBits(left, right) == Verdict::Different;
  return onlyBitsDiffer ? 1 : distance;
}

int64_t Alignment::count(Symbol symbol) const {
  return llvm::count_if(pairs, [&](const AlignedPair &pair) { return pair.symbol == symbol; });
}

llvm::Expected<Alignment> mlir::ad::diff::align(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right) {
  return Aligner(left, right).run();
}
