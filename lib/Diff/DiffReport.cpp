// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Texts of reports, and bounds.
#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/CommandLine.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir::ad::diff;
using llvm::StringRef;
using mlir::ad::runner::suggestValue;
using mlir::ad::runner::usageError;

llvm::json::Value mlir::ad::diff::jsonNumber(double value) {
  if (std::isfinite(value))
    return value;
  return pythonNumber(value);
}

llvm::json::Value mlir::ad::diff::jsonNumber(double value, std::optional<uint64_t> integer) {
  return integer && value >= kFirstInexact ? llvm::json::Value(*integer) : jsonNumber(value);
}

llvm::json::Value mlir::ad::diff::jsonNumber(double value, std::optional<int64_t> integer) {
  return integer && std::fabs(value) >= kFirstInexact ? llvm::json::Value(*integer) : jsonNumber(value);
}

std::string mlir::ad::diff::absText(const MaxDiff &diff) { return pythonNumber(diff.abs, diff.integerAbs); }

std::string mlir::ad::diff::ulpText(const MaxDiff &diff) {
  if (!diff.ulp)
    return "";
  return *diff.ulp == UINT64_MAX && !diff.integerAbs ? "inf" : std::to_string(*diff.ulp);
}

std::string mlir::ad::diff::measuresText(const MaxDiff &diff) {
  return ", l2=" + pythonNumber(diff.l2) + ", max=" + pythonNumber(diff.max) +
         (diff.ulp ? ", ulp=" + ulpText(diff) : "");
}

double mlir::ad::diff::measureOf(const MaxDiff &diff, StringRef name) {
  if (name == "ulp")
    return diff.ulp && *diff.ulp != UINT64_MAX ? static_cast<double>(*diff.ulp) : HUGE_VAL;
  return name == "l2" ? diff.l2 : name == "max" ? diff.max : name == "rel" ? diff.rel : diff.abs;
}

std::string mlir::ad::diff::measureText(const MaxDiff &diff, StringRef name) {
  return name == "abs" ? absText(diff) : pythonNumber(measureOf(diff, name));
}

llvm::json::Value mlir::ad::diff::measureJSON(const MaxDiff &diff, StringRef name) {
  return name == "abs" ? jsonNumber(diff.abs, diff.integerAbs) : jsonNumber(measureOf(diff, name));
}

void mlir::ad::diff::addNorms(llvm::json::Object &object, const MaxDiff &diff) {
  object["l2"] = jsonNumber(diff.l2);
  object["max"] = jsonNumber(diff.max);
}

void mlir::ad::diff::warnOfBlindRel(DiffReport &report, llvm::ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  if (names.empty())
    return;
  std::vector<std::string> quoted;
  for (const std::string &name : names.take_front(shown))
    quoted.push_back("'" + name + "'");
  std::string more = names.size() > shown ? " and " + countText(names.size() - shown, "other") : "";
  report.warnings.push_back("rel says nothing about " + llvm::join(quoted, ", ") + more + ": it adds " +
                            pythonNumber(kRelativeBase) +
                            " to the magnitude of each expected element, and all are smaller; use l2 or max");
}

static std::optional<double> &limitOf(Bound &bound, StringRef name) {
  return name == "l2"         ? bound.l2
         : name == "max"      ? bound.max
         : name == "abs"      ? bound.abs
         : name == "rel"      ? bound.rel
         : name == "ulp"      ? bound.ulp
         : name == "distance" ? bound.distance
                              : bound.different;
}

llvm::Expected<Bound> mlir::ad::diff::parseBound(StringRef text, llvm::ArrayRef<StringRef> names,
                                                 StringRef option) {
  Bound bound;
  for (StringRef word : llvm::split(text, ',')) {
    double value;
    bool hasName = word.contains('=') || !llvm::is_contained(names, "l2") || word.getAsDouble(value);
    auto [name, number] = hasName ? word.split('=') : std::pair<StringRef, StringRef>("l2", word);
    if (!llvm::is_contained(names, name))
      return usageError("expected " + option + " with " + llvm::join(names, ", ") + ", found '" + name + "'" +
                        suggestValue(name, names));
    std::optional<double> &limit = limitOf(bound, name);
    if (limit)
      return usageError(option + " has '" + name + "' twice");
    if (number.getAsDouble(value) || !(value >= 0))
      return usageError("expected " + option + " " + name + "=NUMBER that is not negative, found '" + word +
                        "'");
    limit = value;
    bound.text += (bound.text.empty() ? "" : ",") + (name + "=" + number).str();
  }
  return bound;
}

bool mlir::ad::diff::isWithin(const MaxDiff &diff, const Bound &bound) {
  // A long double has all integers of 64 bits.
  auto ulp = static_cast<long double>(diff.ulp.value_or(0));
  return diff.dnan == 0 && (!bound.abs || diff.exactAbs() <= static_cast<long double>(*bound.abs)) &&
         diff.rel <= bound.rel.value_or(diff.rel) && diff.l2 <= bound.l2.value_or(diff.l2) &&
         diff.max <= bound.max.value_or(diff.max) &&
         (!bound.ulp || ulp <= static_cast<long double>(*bound.ulp));
}
