// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff reduce: the smallest part of a program that differs between two configurations.
#include "../ProgramCommands.h"
#include "ReduceSearch.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/Error.h"

#include <chrono>

using namespace mlir::ad::diff;
using llvm::Expected;

static Table makeTable(const Reduction &reduction) {
  Table table;
  table.header = {"operation", "location"};
  for (const Reduction::Operation &operation : reduction.operations)
    table.rows.push_back({operation.name, operation.location});
  return table;
}

Expected<DiffReport> mlir::ad::diff::runReduce(const DiffOptions &options) {
  auto start = std::chrono::steady_clock::now();
  Expected<Side> a = parseSide("A", options.sideA, options.runnerA);
  if (!a)
    return a.takeError();
  Expected<Side> b = parseSide("B", options.sideB, options.runnerB);
  if (!b)
    return b.takeError();
  if (llvm::Error error = checkNewFolder(options.output))
    return std::move(error);
  if (llvm::Error error = checkSharedInputs(*a, *b))
    return std::move(error);
  DiffReport report;
  report.title = "ad-diff reduce " + options.inputs[0];
  report.text = "A: " + textOf(*a) + "\nB: " + textOf(*b) + "\n";
  Reduction reduction;
  unsigned executions = 0;
  {
    ProgressLine line;
    ReduceSearch search(options, {std::move(*a), {}}, {std::move(*b), {}},
                        [&](unsigned execution) { line.show(execution); });
    if (llvm::Error error = search.find(options.output).moveInto(reduction))
      return std::move(error);
    executions = search.getExecutions();
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!reduction.differences.empty())
    report.text += "results that differ:\n" + describe(reduction.differences);
  report.text += describe(reduction, options.bound) + countText(executions, "execution") + ", " +
                 llvm::formatv("{0:f1} s\n", seconds).str();
  report.json = toJSON(reduction);
  report.json["executions"] = static_cast<int64_t>(executions);
  report.json["seconds"] = seconds;
  report.legend =
      "A and B are the two configurations. The operations of the table are enough for a difference: a "
      "program of them alone, with the operands that they have in the whole program, differs between A "
      "and B. The amplification is the largest l2 of a result of the program, divided by that of the reduced "
      "program.";
  warnOfBlindRel(report, reduction.relBlind);
  report.table = makeTable(reduction);
  report.boundHolds = !options.bound || reduction.differences.empty();
  return std::move(report);
}
