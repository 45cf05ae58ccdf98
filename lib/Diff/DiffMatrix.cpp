// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pairwise differences of tensors.
#include "adjoint/Diff/DiffMatrix.h"
#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Diff/NumberText.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::ad::diff;
using llvm::Expected;

DiffMatrix::DiffMatrix(std::vector<std::string> labels, std::string measure)
    : labels(std::move(labels)), measure(std::move(measure)) {
  MaxDiff equal;
  equal.ulp = 0;
  cells.assign(size() * size(), equal);
}

double DiffMatrix::getMax() const {
  double max = 0;
  for (const MaxDiff &cell : cells)
    max = std::max(max, measureOf(cell, measure));
  return max;
}

MaxDiff DiffMatrix::getLargest() const {
  MaxDiff largest;
  for (const MaxDiff &cell : cells) {
    bool isLarger = measure == "abs" ? cell.exactAbs() > largest.exactAbs()
                                     : measureOf(cell, measure) > measureOf(largest, measure);
    if (isLarger)
      largest = cell;
  }
  return largest;
}

bool DiffMatrix::isWithin(const Bound &bound) const {
  return llvm::all_of(cells, [&](const MaxDiff &cell) { return mlir::ad::diff::isWithin(cell, bound); });
}

std::vector<std::string> DiffMatrix::findBlindRel() const {
  std::vector<std::string> names;
  for (size_t row = 0; row < size(); ++row)
    if (llvm::any_of(llvm::ArrayRef(cells).slice(row * size(), size()),
                     [](const MaxDiff &cell) { return cell.isRelBlind(); }))
      names.push_back(labels[row]);
  return names;
}

std::vector<std::vector<size_t>> DiffMatrix::findEqual() const {
  std::vector<std::vector<size_t>> groups;
  for (size_t row = 0; row < size(); ++row) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const std::vector<size_t> &group) {
      return cells[row * size() + group.front()].isZero();
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
      texts.push_back(digits ? generalNumber(at(row, column), digits)
                             : measureText(getPair(row, column), measure));
    table.rows.push_back(std::move(texts));
  }
  return table;
}

Expected<DiffMatrix> mlir::ad::diff::comparePairwise(std::vector<TensorFile> &files,
                                                     std::vector<std::string> labels, std::string measure) {
  DiffMatrix matrix(std::move(labels), std::move(measure));
  for (size_t row = 0; row < files.size(); ++row)
    for (size_t column = 0; column < files.size(); ++column) {
      if (row == column)
        continue;
      Expected<MaxDiff> diff = compareFiles(files[row], files[column], {});
      if (!diff)
        return diff.takeError();
      matrix.set(row, column, std::move(*diff));
    }
  return matrix;
}

DiffMatrix mlir::ad::diff::comparePairwise(llvm::ArrayRef<adrt_tensor> tensors,
                                           std::vector<std::string> labels, std::string measure) {
  DiffMatrix matrix(std::move(labels), std::move(measure));
  for (size_t row = 0; row < tensors.size(); ++row)
    for (size_t column = 0; column < tensors.size(); ++column)
      if (row != column)
        matrix.set(row, column, compareTensors(tensors[row], tensors[column]));
  return matrix;
}
