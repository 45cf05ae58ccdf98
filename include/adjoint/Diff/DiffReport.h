// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a comparison or an examination found: as text, as JSON and as a table. `ad-diff` and the Python
// package get the same one.
#ifndef ADJOINT_DIFF_DIFFREPORT_H
#define ADJOINT_DIFF_DIFFREPORT_H

#include "adjoint/Diff/MaxDiff.h"
#include "adjoint/Diff/Table.h"
#include "llvm/Support/Error.h"
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
  std::string text; ///< with a name for each number
  std::optional<double> abs, rel, l2, max, ulp, distance, different;

  bool needsTensors() const { return abs || rel || l2 || max || ulp; }
};

/// What a bound may name: measures of two tensors, and of two runs, with the number of values that differ.
inline constexpr llvm::StringRef kTensorMeasures[] = {"l2", "max", "abs", "rel", "ulp"};
inline constexpr llvm::StringRef kRunsMeasures[] = {"l2", "max", "abs", "rel", "ulp", "different"};
/// Reads `l2=0.01,ulp=4`, with names of the list. A number without a name bounds l2, if the list has it.
/// `option` is what errors call the text.
llvm::Expected<Bound> parseBound(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names,
                                 llvm::StringRef option);

/// The largest absolute difference, as Python prints it; all digits of an integer.
std::string absText(const MaxDiff &diff);
/// The largest distance in ULPs; empty if the element types differ.
std::string ulpText(const MaxDiff &diff);
/// `, l2=0.01, max=0.02, ulp=4`: the measures that the string form of a difference lacks.
std::string measuresText(const MaxDiff &diff);
/// Sets l2 and max, which are no numbers of JSON if they are infinite.
void addNorms(llvm::json::Object &object, const MaxDiff &diff);
/// Warns that `rel` says nothing about the tensors of these names, if there are any.
void warnOfBlindRel(DiffReport &report, llvm::ArrayRef<std::string> names);
/// The measure of this name. The distance in ULPs of other types is infinite.
double measureOf(const MaxDiff &diff, llvm::StringRef name);
/// The same without rounding: `abs` of integers has all digits.
std::string measureText(const MaxDiff &diff, llvm::StringRef name);
llvm::json::Value measureJSON(const MaxDiff &diff, llvm::StringRef name);
/// Whether a difference is within the bound. It never is if an element is NaN in one tensor alone.
bool isWithin(const MaxDiff &diff, const Bound &bound);

/// A number in JSON, which has no infinities and no NaN: these are texts, as Python prints them.
llvm::json::Value jsonNumber(double value);
/// The same of a number that is also known as an integer, which JSON has exactly.
llvm::json::Value jsonNumber(double value, std::optional<uint64_t> integer);
llvm::json::Value jsonNumber(double value, std::optional<int64_t> integer);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_DIFFREPORT_H
