// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The report of a search for the operations that must compute in f32.
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Runner/Trace/PrecisionSearch.h"
#include "adjoint/Support/LocationText.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Expected;
using llvm::StringRef;

namespace {

std::string operationsText(size_t count) { return countText(count, "operation"); }

std::string describe(llvm::ArrayRef<PrecisionDiff> diffs) {
  std::string text;
  for (const PrecisionDiff &entry : diffs)
    text += "  " + entry.name + ": " + stringDiff(entry.diff) + measuresText(entry.diff) + "\n";
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

llvm::json::Object precisionToJSON(const PrecisionSearch &search, const Table &table,
                                   const PrecisionProblem &problem) {
  llvm::json::Array kept, results;
  for (const std::vector<std::string> &row : table.rows)
    kept.push_back(llvm::json::Object{{"operation", row[0]}, {"location", row[1]}});
  for (const PrecisionDiff &entry : search.getDiffs())
    results.push_back(llvm::json::Object{{"name", entry.name},
                                         {"abs", jsonNumber(entry.diff.abs)},
                                         {"rel", jsonNumber(entry.diff.rel)},
                                         {"l2", jsonNumber(entry.diff.l2)},
                                         {"max", jsonNumber(entry.diff.max)},
                                         {"text", stringDiff(entry.diff)}});
  return llvm::json::Object{{"policy", problem.policy},
                            {"against", problem.runExact ? "f64" : "f32"},
                            {"bound", problem.bound.text},
                            {"candidates", static_cast<int64_t>(search.getCandidates().size())},
                            {"executions", static_cast<int64_t>(search.getExecutions())},
                            {"kept", std::move(kept)},
                            {"results", std::move(results)}};
}

} // namespace

Expected<DiffReport> mlir::ad::runner::findPrecision(const PrecisionProblem &problem, const Hooks &hooks,
                                                     std::string &program) {
  PrecisionSearch search(problem, hooks);
  if (llvm::Error error = search.prepare())
    return std::move(error);
  Expected<std::optional<ChangeSet>> found = search.find();
  if (!found)
    return found.takeError();
  ChangeSet kept = found->value_or(ChangeSet());
  DiffReport report;
  for (const std::string &failure : search.getNotExact())
    report.warnings.push_back("an operation does not run in f64, so its results count as exact: " + failure);
  report.boundHolds = false;
  if (*found) {
    program = search.annotate(kept);
    Expected<bool> holds = search.keepsBound(search.annotateForRun(kept));
    if (!holds)
      return holds.takeError();
    report.boundHolds = *holds;
  }
  size_t count = search.getCandidates().size();
  report.legend =
      "The operations that must compute in f32, so that the results of the program under the policy "
      "stay within the bound.";
  report.table = makeTable(search, kept);
  report.text =
      !*found ? "the bound does not hold even with all operations in f32 (" + operationsText(count) + ")\n"
      : kept.empty() ? "all operations may follow the policy (" + operationsText(count) + ")\n"
                     : operationsText(kept.size()) + " of " + std::to_string(count) +
                           " must compute in f32, and none of them can be left out\n";
  report.tableText = kept.empty() ? "" : report.table.toText();
  report.text += describe(search.getDiffs()) + "bound " + problem.bound.text +
                 (problem.runExact ? " against f64" : "") +
                 (report.boundHolds ? " holds" : " does not hold") + "; " +
                 countText(search.getExecutions(), "execution") + "\n";
  std::vector<std::string> relBlind;
  for (const PrecisionDiff &entry : search.getDiffs())
    if (entry.diff.isRelBlind())
      relBlind.push_back(entry.name);
  warnOfBlindRel(report, relBlind);
  report.json = precisionToJSON(search, report.table, problem);
  return std::move(report);
}
