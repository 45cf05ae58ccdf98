// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pictures of differences, as SVG.
#ifndef ADJOINT_DIFF_PICTURES_H
#define ADJOINT_DIFF_PICTURES_H

#include "adjoint/Diff/DiffMatrix.h"

namespace mlir::ad::diff {

/// The colour of a difference, such as #ffbd00: white for 0, else a colour of matplotlib's map Wistia, from
/// yellow to orange.
std::string heatColor(double value, double max);

/// A cell with its colour and one digit for each pair of tensors. The title is `max=` with the largest
/// difference, after `title`.
std::string heatMapSVG(const DiffMatrix &matrix, llvm::StringRef title);

struct Bar {
  std::string label;
  double value;
};

/// A horizontal bar for each value, which must not be negative. Lengths are logarithmic if values are of many
/// magnitudes.
std::string barChartSVG(llvm::StringRef title, llvm::ArrayRef<Bar> bars);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_PICTURES_H
