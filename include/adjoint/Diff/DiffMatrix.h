// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pairwise differences of several tensors.
#ifndef ADJOINT_DIFF_DIFFMATRIX_H
#define ADJOINT_DIFF_DIFFMATRIX_H

#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Diff/TensorFile.h"

namespace mlir::ad::diff {

/// The tensor of a row is the expected one of its cells; the diagonal is zero.
class DiffMatrix {
public:
  explicit DiffMatrix(std::vector<std::string> labels, std::string measure = "abs");

  size_t size() const { return labels.size(); }
  llvm::ArrayRef<std::string> getLabels() const { return labels; }
  void set(size_t row, size_t column, MaxDiff diff) { cells[row * size() + column] = std::move(diff); }
  const MaxDiff &getPair(size_t row, size_t column) const { return cells[row * size() + column]; }
  /// The measure of a pair.
  double at(size_t row, size_t column) const { return measureOf(getPair(row, column), measure); }
  double getMax() const;
  /// The pair with the largest measure.
  MaxDiff getLargest() const;
  /// Whether all pairs are within the bound.
  bool isWithin(const Bound &bound) const;
  /// The expected tensors about which `rel` says nothing.
  std::vector<std::string> findBlindRel() const;
  /// The tensors in groups of equal ones, in their order.
  std::vector<std::vector<size_t>> findEqual() const;
  /// A row and a column for each tensor; numbers have at most `digits` digits, or as many as they need if it
  /// is 0.
  Table toTable(int digits) const;

private:
  std::vector<std::string> labels;
  std::string measure;
  std::vector<MaxDiff> cells;
};

/// Compares all pairs of tensors. An error if shapes differ.
llvm::Expected<DiffMatrix> comparePairwise(std::vector<TensorFile> &files, std::vector<std::string> labels,
                                           std::string measure = "abs");
DiffMatrix comparePairwise(llvm::ArrayRef<adrt_tensor> tensors, std::vector<std::string> labels,
                           std::string measure = "abs");

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_DIFFMATRIX_H
