// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff bisect: the rewrites that cause a difference of two configurations.
#include "CauseSearch.h"
#include "ProgramCommands.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <unistd.h>

using namespace mlir::ad;
using namespace mlir::ad::diff;
using llvm::Expected;
using llvm::StringRef;

namespace {

std::string describe(const ResultDiff &result) {
  std::string text = "  " + result.name + ": " + stringDiff(result.diff);
  if (result.diff.ulp)
    text += ", ulp=" + ulpText(result.diff);
  if (result.onlyZeroSigns)
    text += ", signs of zeros";
  return text + "\n";
}

std::string describe(const std::vector<ResultDiff> &results) {
  std::string text;
  for (const ResultDiff &result : results)
    text += describe(result);
  return text;
}

std::string describe(const Rewrite &rewrite) {
  return "  " + rewrite.name + " (" + rewrite.permission + ") of " + rewrite.operation + " at " +
         rewrite.location + "\n";
}

std::string textOf(const Side &side) { return side.text.empty() ? "the default options" : side.text; }

std::string rewriteCount(size_t count) {
  return std::to_string(count) + (count == 1 ? " rewrite" : " rewrites");
}

/// Shows on a terminal that the search goes on.
class ProgressLine {
public:
  ~ProgressLine() {
    if (shown)
      llvm::errs() << "\r\x1b[K";
  }
  void show(unsigned execution) {
    if (!isatty(STDERR_FILENO))
      return;
    shown = true;
    llvm::errs() << "\r\x1b[Kad-diff: execution " << execution;
    llvm::errs().flush();
  }

private:
  bool shown = false;
};

class BisectReport {
public:
  explicit BisectReport(const DiffOptions &options) : options(options) {}

  Expected<DiffReport> run();

private:
  std::string causeText() const;
  std::string proofText() const;
  llvm::json::Object toJSON() const;
  Table makeTable() const;

  const DiffOptions &options;
  Cause cause;
  unsigned executions = 0;
  double seconds = 0;
};

std::string BisectReport::causeText() const {
  switch (cause.kind) {
  case CauseKind::None:
    return "no cause: A and B give the same results\n";
  case CauseKind::Elsewhere:
    return "no rewrite explains the difference: it is in one without which the program does not compile, "
           "such "
           "as a decomposition, in a derivative, in the generated code, or in the options themselves\n";
  case CauseKind::Rewrites:
  case CauseKind::Shared:
    break;
  }
  std::string who = cause.kind == CauseKind::Shared ? " of this name that both apply, with different results"
                                                    : " that only " + cause.side + " applies";
  std::string text = "cause: " + rewriteCount(cause.rewrites.size()) + " of " +
                     std::to_string(cause.candidates) + who +
                     (cause.rewrites.size() > 1 ? "; none of them differs alone" : "") + "\n";
  for (const Rewrite &rewrite : cause.rewrites)
    text += describe(rewrite);
  return text + proofText();
}

std::string BisectReport::proofText() const {
  std::string text = cause.alone.empty()
                         ? "not proved: with no other of these rewrites the results are equal\n"
                         : "with no other of these rewrites, the results differ:\n" + describe(cause.alone);
  text += cause.rewrites.size() == 1 ? "without it, " : "without them, ";
  if (cause.neededToCompile)
    return text + "the program does not compile\n";
  return text + (cause.othersRemain ? "the results still differ: there are other causes\n"
                                    : "the results are equal\n");
}

llvm::json::Value toJSON(const std::vector<ResultDiff> &results) {
  llvm::json::Array array;
  for (const ResultDiff &result : results) {
    llvm::json::Object object{{"name", result.name},
                              {"only_zero_signs", result.onlyZeroSigns},
                              {"abs", jsonNumber(result.diff.abs)},
                              {"rel", jsonNumber(result.diff.rel)},
                              {"dnan", jsonNumber(result.diff.dnan)}};
    if (result.diff.ulp)
      object["ulp"] = static_cast<int64_t>(std::min<uint64_t>(*result.diff.ulp, INT64_MAX));
    array.push_back(std::move(object));
  }
  return array;
}

llvm::json::Object BisectReport::toJSON() const {
  constexpr StringRef kinds[] = {"none", "rewrites", "shared", "elsewhere"};
  llvm::json::Array rewrites;
  for (const Rewrite &rewrite : cause.rewrites)
    rewrites.push_back(llvm::json::Object{{"rewrite", rewrite.name},
                                          {"permission", rewrite.permission},
                                          {"operation", rewrite.operation},
                                          {"location", rewrite.location}});
  return llvm::json::Object{{"cause", kinds[static_cast<size_t>(cause.kind)]},
                            {"side", cause.side},
                            {"candidates", static_cast<int64_t>(cause.candidates)},
                            {"rewrites", std::move(rewrites)},
                            {"differences", ::toJSON(cause.differences)},
                            {"alone", ::toJSON(cause.alone)},
                            {"others_remain", cause.othersRemain},
                            {"needed_to_compile", cause.neededToCompile},
                            {"executions", static_cast<int64_t>(executions)},
                            {"seconds", seconds}};
}

Table BisectReport::makeTable() const {
  Table table;
  table.header = {"rewrite", "permission", "operation", "location"};
  for (const Rewrite &rewrite : cause.rewrites)
    table.rows.push_back({rewrite.name, rewrite.permission, rewrite.operation, rewrite.location});
  return table;
}

Expected<DiffReport> BisectReport::run() {
  auto start = std::chrono::steady_clock::now();
  Expected<Side> a = parseSide("A", options.sideA, options.runnerA);
  if (!a)
    return a.takeError();
  Expected<Side> b = parseSide("B", options.sideB, options.runnerB);
  if (!b)
    return b.takeError();
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  ProgressLine line;
  RunnerProcess process(*folder, options.inputs[0], options.program);
  CauseSearch search(process, options.bound, [&](unsigned execution) { line.show(execution); });
  if (llvm::Error error = search.find(*a, *b).moveInto(cause))
    return std::move(error);
  executions = process.getCount();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  DiffReport report;
  report.title = "ad-diff bisect " + options.inputs[0];
  report.text = "A: " + textOf(*a) + "\nB: " + textOf(*b) + "\n";
  if (!cause.differences.empty())
    report.text += "results that differ:\n" + describe(cause.differences);
  report.text +=
      causeText() + std::to_string(executions) + " executions, " + llvm::formatv("{0:f1} s\n", seconds).str();
  report.json = toJSON();
  report.table = makeTable();
  report.boundHolds = !options.bound || cause.differences.empty();
  return std::move(report);
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runBisect(const DiffOptions &options) {
  return BisectReport(options).run();
}
