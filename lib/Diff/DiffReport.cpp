// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Texts of reports, and bounds.
#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Diff/NumberText.h"

#include <cmath>

using namespace mlir::ad::diff;

llvm::json::Value mlir::ad::diff::jsonNumber(double value) {
  if (std::isfinite(value))
    return value;
  return pythonNumber(value);
}

std::string mlir::ad::diff::ulpText(const MaxDiff &diff) {
  if (!diff.ulp)
    return "";
  return *diff.ulp == UINT64_MAX ? "inf" : std::to_string(*diff.ulp);
}

bool mlir::ad::diff::isWithin(const MaxDiff &diff, const Bound &bound) {
  double ulp = diff.ulp ? static_cast<double>(*diff.ulp) : 0;
  return diff.dnan == 0 && diff.abs <= bound.abs.value_or(diff.abs) &&
         diff.rel <= bound.rel.value_or(diff.rel) && ulp <= bound.ulp.value_or(ulp);
}
