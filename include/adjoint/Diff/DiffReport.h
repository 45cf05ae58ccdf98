// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a comparison or an examination found: as text, as JSON and as a table. `ad-diff` and the Python
// package get the same one.
#ifndef ADJOINT_DIFF_DIFFREPORT_H
#define ADJOINT_DIFF_DIFFREPORT_H

#include "adjoint/Diff/MaxDiff.h"
#include "adjoint/Diff/Table.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace mlir::ad::diff {

struct DiffReport {
  std::string title;
  std::string legend;    ///< how to read the table and the picture, for the page
  std::string tableText; ///< what the terminal shows in place of the table
  std::string text;
  llvm::json::Object json;
  Table table;
  std::string svg;
  bool boundHolds = true;
  std::vector<std::string> warnings;
  /// The error that the examined run ended with, in the lines that are printed; empty if it succeeded.
  std::string failure;
  /// Inputs that could not be compared; the others were.
  std::vector<std::string> errors;
};

/// The largest difference that is allowed.
struct Bound {
  std::string text; ///< as it was given
  std::optional<double> abs, rel, ulp, distance, different;
};

/// The largest distance in ULPs; empty if the element types differ.
std::string ulpText(const MaxDiff &diff);
/// Whether a difference is within the bound. It never is if an element is NaN in one tensor alone.
bool isWithin(const MaxDiff &diff, const Bound &bound);

/// A number in JSON, which has no infinities and no NaN: these are texts, as Python prints them.
llvm::json::Value jsonNumber(double value);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_DIFFREPORT_H
