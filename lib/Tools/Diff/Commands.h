// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The subcommands of ad-diff. Each makes one report, which the tool prints and writes. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_COMMANDS_H
#define ADJOINT_LIB_TOOLS_DIFF_COMMANDS_H

#include "Options.h"
#include "adjoint/Diff/Table.h"
#include "llvm/Support/JSON.h"

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
  /// Inputs that could not be compared; the others were.
  std::vector<std::string> errors;
};

llvm::Expected<DiffReport> runTensors(const DiffOptions &options);
llvm::Expected<DiffReport> runMatrix(const DiffOptions &options);
llvm::Expected<DiffReport> runAlign(const DiffOptions &options);
llvm::Expected<DiffReport> runRuns(const DiffOptions &options);
/// Aligns records that need not be in files.
llvm::Expected<DiffReport> alignRecords(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right,
                                        const DiffOptions &options);

/// Runs one of the subcommands that run programs.
using RunProgramCommand = llvm::Expected<DiffReport> (*)(const DiffOptions &options);
/// Parses the command line, runs the subcommand, prints the report and writes files. Without `runProgram`,
/// the subcommands that run programs replace this process.
int runDiffTool(int argc, char **argv, RunProgramCommand runProgram);

/// The largest distance in ULPs; empty if the element types differ.
std::string ulpText(const MaxDiff &diff);
/// Whether a difference is within the bound. It never is if an element is NaN in one tensor alone.
bool isWithin(const MaxDiff &diff, const Bound &bound);

/// A number in JSON, which has no infinities and no NaN: these are texts, as Python prints them.
llvm::json::Value jsonNumber(double value);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_COMMANDS_H
