// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two aligned runs side by side.
#include "Elements.h"
#include "adjoint/Diff/Alignment.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/TensorFile.h"
#include "adjoint/Support/Elements.h"
#include "llvm/ADT/STLExtras.h"

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

bool isOfF32(adrt_type type) { return type != ADRT_F64 && type != ADRT_I32 && type != ADRT_I64; }

/// The largest absolute and relative difference, computed in f32 as the reference package does. Elements of
/// types that f32 rounds are compared without rounding, so that different ones have a difference.
class KeptDifference {
public:
  llvm::Error compare(TensorFile &left, TensorFile &right);
  std::string getText() const {
    constexpr int digits = 5;
    return " | a=" + generalNumber(largest, digits) + " r=" + generalNumber(relative, digits);
  }

private:
  /// Some elements of a tensor.
  struct Part {
    adrt_type type;
    std::vector<char> elements;
    std::vector<double> values;

    long double exactAt(int64_t index) const {
      return type == ADRT_I64 ? static_cast<long double>(adrt::loadAsInteger(
                                    type, elements.data() + index * static_cast<int64_t>(sizeof(int64_t))))
                              : values[static_cast<size_t>(index)];
    }
  };

  void add(double difference, double ratio);
  void addInF32(double left, double right);
  void addExactly(long double left, long double right);

  double largest = 0, relative = 0;
};

constexpr float relativeBase = 1e-7F;

// Written so that a NaN stays.
void KeptDifference::add(double difference, double ratio) {
  largest = largest >= difference ? largest : difference;
  relative = relative >= ratio ? relative : ratio;
}

void KeptDifference::addInF32(double left, double right) {
  auto l = static_cast<float>(left), r = static_cast<float>(right);
  float difference = l == r ? 0 : std::fabs(l - r);
  add(difference, difference / (std::fabs(l) + relativeBase));
}

void KeptDifference::addExactly(long double left, long double right) {
  auto difference = static_cast<double>(exactDistance(left, right));
  add(difference, difference / (std::fabs(static_cast<double>(left)) + relativeBase));
}

llvm::Error KeptDifference::compare(TensorFile &left, TensorFile &right) {
  constexpr int64_t partSize = 4096;
  Part parts[2];
  TensorFile *files[] = {&left, &right};
  for (auto [part, file] : llvm::zip(parts, files))
    part = {file->getType(), std::vector<char>(partSize * sizeof(double)), std::vector<double>(partSize)};
  bool inF32 = isOfF32(left.getType()) && isOfF32(right.getType());
  int64_t total = left.getElementCount();
  for (int64_t first = 0; first < total; first += partSize) {
    int64_t count = std::min(partSize, total - first);
    for (auto [part, file] : llvm::zip(parts, files)) {
      if (llvm::Error error = file->read(first, count, part.elements.data()))
        return error;
      toDoubles(part.type, part.elements.data(), count, part.values.data());
    }
    for (int64_t i = 0; i < count; ++i)
      if (inF32)
        addInF32(parts[0].values[static_cast<size_t>(i)], parts[1].values[static_cast<size_t>(i)]);
      else
        addExactly(parts[0].exactAt(i), parts[1].exactAt(i));
  }
  return llvm::Error::success();
}

} // namespace

Expected<std::string> mlir::ad::diff::keptDifference(const Record &left, const Record &right) {
  if (left.value.empty() || right.value.empty())
    return std::string();
  Expected<TensorFile> leftFile = TensorFile::open(left.value, elementType(left));
  if (!leftFile)
    return leftFile.takeError();
  Expected<TensorFile> rightFile = TensorFile::open(right.value, elementType(right));
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
