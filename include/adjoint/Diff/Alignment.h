// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Alignment of the records of two runs by their edit distance, after the comparison of executions in the
// package onnx-array-api. A path begins with the pair of the first records. From there each step advances
// both runs, at the cost of the distance of two records, or one of them, at the cost of 1000.
#ifndef ADJOINT_DIFF_ALIGNMENT_H
#define ADJOINT_DIFF_ALIGNMENT_H

#include "adjoint/Diff/Record.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::ad::diff {

/// How different two records are; 1 if only the bits of their values are known to differ. Names do not count.
double distanceOf(const Record &left, const Record &right);

enum class Symbol : char { Equal = '=', Different = '~', OnlyLeft = '-', OnlyRight = '+' };

struct AlignedPair {
  int64_t left, right; ///< numbers of records: the current ones of both runs
  Symbol symbol;
  double distance; ///< what the step costs
};

struct Alignment {
  double distance = 0;
  std::vector<AlignedPair> pairs;

  int64_t count(Symbol symbol) const;
};

/// An error if a run has no records, or if both are too long.
llvm::Expected<Alignment> align(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right);

/// The width of a record in the text.
constexpr size_t kUsualColumn = 75;

/// A line for each pair: number, symbol, both records side by side, and the differences of their tensors if
/// both were kept. Lines do not end with blanks.
llvm::Expected<std::string> alignmentText(const Alignment &alignment, llvm::ArrayRef<Record> left,
                                          llvm::ArrayRef<Record> right, size_t column = kUsualColumn);

/// ` | a=… r=…` for the kept tensors of a pair, empty if there are none of one size.
llvm::Expected<std::string> keptDifference(const Record &left, const Record &right);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_ALIGNMENT_H
