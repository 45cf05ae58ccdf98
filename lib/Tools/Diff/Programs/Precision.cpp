// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff precision: the operations that must compute in f32 for a bound.
#include "PrecisionSearch.h"
#include "ProgramCommands.h"
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/LocationText.h"
#include "adjoint/Support/OutputFile.h"

using namespace mlir::ad::diff;
using llvm::Expected;
using llvm::StringRef;

namespace {

std::string operationsText(size_t count) {
  return std::to_string(count) + (count == 1 ? " operation" : " operations");
}

std::string describe(llvm::ArrayRef<PrecisionDiff> diffs) {
  std::string text;
  for (const PrecisionDiff &entry : diffs)
    text += "  " + entry.name + ": " + stringDiff(entry.diff) +
            (entry.diff.ulp ? ", ulp=" + ulpText(entry.diff) : "") + "\n";
  return text;
}

Table makeTable(const PrecisionSearch &search, const ChangeSet &kept) {
  Table table;
  table.header = {"operation", "location"};
  for (size_t index : kept) {
    mlir::Operation *op = search.getCandidates()[index];
    table.rows.push_back({op->getName().getStringRef().str(), mlir::ad::locationText(op->getLoc())});
  }
  return table;
}

llvm::json::Object toJSON(const PrecisionSearch &search, const Table &table, const DiffOptions &options) {
  llvm::json::Array kept, results;
  for (const std::vector<std::string> &row : table.rows)
    kept.push_back(llvm::json::Object{{"operation", row[0]}, {"location", row[1]}});
  for (const PrecisionDiff &entry : search.getDiffs())
    results.push_back(llvm::json::Object{{"name", entry.name},
                                         {"abs", jsonNumber(entry.diff.abs)},
                                         {"rel", jsonNumber(entry.diff.rel)},
                                         {"text", stringDiff(entry.diff)}});
  return llvm::json::Object{{"policy", options.policy},
                            {"bound", options.bound->text},
                            {"candidates", static_cast<int64_t>(search.getCandidates().size())},
                            {"executions", static_cast<int64_t>(search.getExecutions())},
                            {"kept", std::move(kept)},
                            {"results", std::move(results)}};
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runPrecision(const DiffOptions &options) {
  PrecisionSearch search(options);
  if (llvm::Error error = search.prepare())
    return std::move(error);
  Expected<std::optional<ChangeSet>> found = search.find();
  if (!found)
    return found.takeError();
  ChangeSet kept = found->value_or(ChangeSet());
  DiffReport report;
  report.title = "Precision of " + options.inputs[0];
  if (*found) {
    // The program that is written, as it is written.
    std::string text = search.annotate(kept);
    Expected<bool> holds = search.keepsBound(text);
    if (!holds)
      return holds.takeError();
    report.boundHolds = *holds;
    if (!options.output.empty())
      if (llvm::Error error = runner::writeFile(options.output, {StringRef(text)}))
        return std::move(error);
  } else {
    report.boundHolds = false;
  }
  size_t count = search.getCandidates().size();
  report.table = makeTable(search, kept);
  report.text = !*found ? "the bound does not hold even if all " + operationsText(count) + " compute in f32\n"
                : kept.empty() ? "all " + operationsText(count) + " may follow the policy\n"
                               : operationsText(kept.size()) + " of " + std::to_string(count) +
                                     " must compute in f32, and none of them can be left out\n";
  report.tableText = kept.empty() ? "" : report.table.toText();
  report.text += describe(search.getDiffs()) + "bound " + options.bound->text +
                 (report.boundHolds ? " holds" : " does not hold") + "; " +
                 std::to_string(search.getExecutions()) + " executions\n";
  report.json = toJSON(search, report.table, options);
  return std::move(report);
}
