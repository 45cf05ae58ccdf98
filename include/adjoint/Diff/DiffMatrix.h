// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The largest absolute differences of several tensors, pairwise.
#ifndef ADJOINT_DIFF_DIFFMATRIX_H
#define ADJOINT_DIFF_DIFFMATRIX_H

#include "adjoint/Diff/Table.h"
#include "adjoint/Diff/TensorFile.h"

namespace mlir::ad::diff {

/// Symmetric; the diagonal is zero.
class DiffMatrix {
public:
  explicit DiffMatrix(std::vector<std::string> labels)
      : labels(std::move(labels)), cells(this->labels.size() * this->labels.size()) {}

  size_t size() const { return labels.size(); }
  llvm::ArrayRef<std::string> getLabels() const { return labels; }
  void set(size_t row, size_t column, const MaxDiff &diff);
  /// The largest absolute difference.
  double at(size_t row, size_t column) const { return cells[row * size() + column].abs; }
  double getMax() const;
  /// The tensors in groups of equal ones, in their order.
  std::vector<std::vector<size_t>> findEqual() const;
  /// A row and a column for each tensor; numbers have at most `digits` digits, or as many as they need if it
  /// is 0.
  Table toTable(int digits) const;

private:
  struct Cell {
    double abs = 0;
    bool isZero = true;
  };
  std::vector<std::string> labels;
  std::vector<Cell> cells;
};

/// Compares all pairs of tensors. An error if shapes differ.
llvm::Expected<DiffMatrix> comparePairwise(std::vector<TensorFile> &files, std::vector<std::string> labels);
DiffMatrix comparePairwise(llvm::ArrayRef<adrt_tensor> tensors, std::vector<std::string> labels);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_DIFFMATRIX_H
