// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The subcommands of ad-diff. Each makes one report, which the tool prints and writes. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_COMMANDS_H
#define ADJOINT_LIB_TOOLS_DIFF_COMMANDS_H

#include "Options.h"
#include "adjoint/Diff/Record.h"

namespace mlir::ad::diff {

llvm::Expected<DiffReport> runTensors(const DiffOptions &options);
llvm::Expected<DiffReport> runMatrix(const DiffOptions &options);
llvm::Expected<DiffReport> runAlign(const DiffOptions &options);
/// Aligns records that need not be in files.
llvm::Expected<DiffReport> alignRecords(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right,
                                        const DiffOptions &options);

/// Runs one of the subcommands that run programs.
using RunProgramCommand = llvm::Expected<DiffReport> (*)(const DiffOptions &options);
/// Parses the command line, runs the subcommand, prints the report and writes files. Without `runProgram`,
/// the subcommands that run programs replace this process.
int runDiffTool(int argc, char **argv, RunProgramCommand runProgram);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_COMMANDS_H
