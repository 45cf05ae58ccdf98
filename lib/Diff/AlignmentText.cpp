// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two aligned runs side by side.
#include "adjoint/Diff/Alignment.h"
#include "adjoint/Diff/Elements.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/TensorFile.h"

#include <algorithm>
#include <cmath>

using namespace mlir::ad::diff;
using llvm::Expected;
using llvm::StringRef;

namespace {

std::string fit(StringRef text, size_t width) {
  std::string fitted = text.take_front(width).str();
  fitted.resize(width, ' ');
  return fitted;
}

std::string rowNumber(size_t row) {
  constexpr size_t digits = 3;
  std::string number = std::to_string(row);
  return std::string(digits - std::min(digits, number.size()), '0') + number;
}

/// The largest absolute and relative difference, computed in f32.
class KeptDifference {
public:
  llvm::Error compare(TensorFile &left, TensorFile &right);
  std::string getText() const {
    constexpr int digits = 5;
    return " | a=" + generalNumber(largest, digits) + " r=" + generalNumber(relative, digits);
  }

private:
  void add(const double *left, const double *right, int64_t count);

  float largest = 0, relative = 0;
};

void KeptDifference::add(const double *left, const double *right, int64_t count) {
  constexpr float base = 1e-7F;
  for (int64_t i = 0; i < count; ++i) {
    auto l = static_cast<float>(left[i]), r = static_cast<float>(right[i]);
    float difference = l == r ? 0 : std::fabs(l - r);
    // Written so that a NaN stays.
    largest = largest >= difference ? largest : difference;
    float ratio = difference / (std::fabs(l) + base);
    relative = relative >= ratio ? relative : ratio;
  }
}

llvm::Error KeptDifference::compare(TensorFile &left, TensorFile &right) {
  constexpr int64_t part = 4096;
  std::vector<char> elements(part * sizeof(double));
  std::vector<double> leftValues(part), rightValues(part);
  int64_t total = left.getElementCount();
  for (int64_t first = 0; first < total; first += part) {
    int64_t count = std::min(part, total - first);
    for (auto [file, values] : {std::pair(&left, &leftValues), std::pair(&right, &rightValues)}) {
      if (llvm::Error error = file->read(first, count, elements.data()))
        return error;
      toDoubles(file->getType(), elements.data(), count, values->data());
    }
    add(leftValues.data(), rightValues.data(), count);
  }
  return llvm::Error::success();
}

} // namespace

Expected<std::string> mlir::ad::diff::keptDifference(const Record &left, const Record &right) {
  if (left.value.empty() || right.value.empty())
    return std::string();
  Expected<TensorFile> leftFile = TensorFile::open(left.value);
  if (!leftFile)
    return leftFile.takeError();
  Expected<TensorFile> rightFile = TensorFile::open(right.value);
  if (!rightFile)
    return rightFile.takeError();
  if (leftFile->getElementCount() != rightFile->getElementCount())
    return std::string();
  KeptDifference difference;
  if (llvm::Error error = difference.compare(*leftFile, *rightFile))
    return std::move(error);
  return difference.getText();
}

Expected<std::string> mlir::ad::diff::alignmentText(const Alignment &alignment, llvm::ArrayRef<Record> left,
                                                    llvm::ArrayRef<Record> right, size_t column) {
  std::string text;
  size_t row = 0;
  for (const AlignedPair &pair : alignment.pairs) {
    bool hasLeft = pair.symbol != Symbol::OnlyRight, hasRight = pair.symbol != Symbol::OnlyLeft;
    std::string line = rowNumber(++row) + " " + static_cast<char>(pair.symbol) + " | " +
                       fit(hasLeft ? left[pair.left].toText() : "", column) + " | " +
                       fit(hasRight ? right[pair.right].toText() : "", column);
    if (hasLeft && hasRight) {
      Expected<std::string> kept = keptDifference(left[pair.left], right[pair.right]);
      if (!kept)
        return kept.takeError();
      line += *kept;
    }
    text += StringRef(line).rtrim(' ').str() + "\n";
  }
  return text;
}
