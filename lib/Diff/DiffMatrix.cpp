// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pairwise differences of tensors.
#include "adjoint/Diff/DiffMatrix.h"
#include "adjoint/Diff/NumberText.h"

#include <algorithm>

using namespace mlir::ad::diff;
using llvm::Expected;

void DiffMatrix::set(size_t row, size_t column, const MaxDiff &diff) {
  cells[row * size() + column] = cells[column * size() + row] = {diff.abs, diff.isZero()};
}

double DiffMatrix::getMax() const {
  double max = 0;
  for (const Cell &cell : cells)
    max = std::max(max, cell.abs);
  return max;
}

std::vector<std::vector<size_t>> DiffMatrix::findEqual() const {
  std::vector<std::vector<size_t>> groups;
  for (size_t row = 0; row < size(); ++row) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const std::vector<size_t> &group) {
      return cells[row * size() + group.front()].isZero;
    });
    if (found == groups.end())
      groups.push_back({row});
    else
      found->push_back(row);
  }
  return groups;
}

Table DiffMatrix::toTable(int digits) const {
  Table table;
  table.header.push_back("");
  table.header.insert(table.header.end(), labels.begin(), labels.end());
  for (size_t row = 0; row < size(); ++row) {
    std::vector<std::string> texts = {labels[row]};
    for (size_t column = 0; column < size(); ++column)
      texts.push_back(digits ? generalNumber(at(row, column), digits) : pythonNumber(at(row, column)));
    table.rows.push_back(std::move(texts));
  }
  return table;
}

Expected<DiffMatrix> mlir::ad::diff::comparePairwise(std::vector<TensorFile> &files,
                                                     std::vector<std::string> labels) {
  DiffMatrix matrix(std::move(labels));
  for (size_t row = 0; row < files.size(); ++row)
    for (size_t column = row + 1; column < files.size(); ++column) {
      Expected<MaxDiff> diff = compareFiles(files[row], files[column], {});
      if (!diff)
        return diff.takeError();
      matrix.set(row, column, *diff);
    }
  return matrix;
}

DiffMatrix mlir::ad::diff::comparePairwise(llvm::ArrayRef<adrt_tensor> tensors,
                                           std::vector<std::string> labels) {
  DiffMatrix matrix(std::move(labels));
  for (size_t row = 0; row < tensors.size(); ++row)
    for (size_t column = row + 1; column < tensors.size(); ++column)
      matrix.set(row, column, compareTensors(tensors[row], tensors[column]));
  return matrix;
}
