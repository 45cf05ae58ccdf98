// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff: runs a subcommand, prints its report and writes the files that were asked for.
#include "Commands.h"
#include "adjoint/Diff/RunComparison.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/OutOfMemory.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/Printable.h"
#include "adjoint/Tools/Diff.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

#include <cerrno>
#include <csignal>
#include <unistd.h>

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// Replaces this process by ad-diff-programs with the same command line. Returns if that fails.
Error startProgramsTool(char **argv) {
  static int anchor;
  llvm::SmallString<128> path(
      llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(argv[0], &anchor)));
  llvm::sys::path::append(path, kProgramsTool);
  execv(path.c_str(), argv);
  return systemError("cannot start " + llvm::Twine(kProgramsTool) + ", which runs the programs", path);
}

Expected<DiffReport> runCommand(const DiffOptions &options) {
  switch (options.command) {
  case Command::Tensors:
    return runTensors(options);
  case Command::Matrix:
    return runMatrix(options);
  case Command::Align:
    return runAlign(options);
  case Command::Runs:
    return compareRuns(options.inputs[0], options.inputs[1], options.bound, options.thresholds);
  default: // needs the compiler
    return DiffReport();
  }
}

std::string toJSON(const DiffReport &report) {
  llvm::json::Object object = report.json;
  object["holds"] = report.boundHolds;
  if (!report.failure.empty())
    object["error"] = llvm::json::fixUTF8(report.failure);
  return mlir::ad::jsonText(std::move(object));
}

std::string toHTML(const DiffReport &report) {
  return htmlPage(report.title,
                  (report.legend.empty() ? "" : "<p>" + escapeMarkup(report.legend) + "</p>\n") + "<pre>" +
                      escapeMarkup(report.text) + "</pre>\n" + report.svg + report.table.toHTML());
}

Error writeFiles(const DiffReport &report, const DiffOptions &options) {
  Error all = Error::success();
  // Names of files and titles may be other bytes than UTF-8, which all these formats are.
  auto write = [&](const std::string &path, const std::string &text) {
    if (!path.empty())
      all = llvm::joinErrors(std::move(all), writeFile(path, {llvm::json::fixUTF8(text)}));
  };
  write(options.json, options.json.empty() ? "" : toJSON(report));
  write(options.csv, options.csv.empty() ? "" : report.table.toCSV());
  write(options.svg, report.svg);
  write(options.html, options.html.empty() ? "" : toHTML(report));
  return all;
}

// What goes to standard output as a file is alone there.
bool writesToStandardOutput(const DiffOptions &options) {
  for (const std::string *path : {&options.json, &options.csv, &options.svg, &options.html})
    if (*path == kStandardOutput)
      return true;
  return false;
}

// An empty message has been printed already.
void complain(const std::string &message) {
  if (message.empty())
    return;
  llvm::WithColor::error(mlir::ad::printableErrors(), "ad-diff") << mlir::ad::messageText(message) << "\n";
}

int finish(const DiffReport &report, const DiffOptions &options) {
  if (!writesToStandardOutput(options))
    llvm::outs() << mlir::ad::printableLines(report.tableText) << mlir::ad::printableLines(report.text);
  Error unwritten = flushStandardOutput();
  for (const std::string &warning : report.warnings)
    llvm::WithColor::warning(mlir::ad::printableErrors(), "ad-diff")
        << mlir::ad::messageText(warning) << "\n";
  for (const std::string &error : report.errors)
    complain(error);
  mlir::ad::printableErrors() << report.failure;
  if (Error error = llvm::joinErrors(std::move(unwritten), writeFiles(report, options))) {
    complain(consumeExitError(std::move(error)).second);
    return ExitUsage;
  }
  if (!report.errors.empty() || !report.failure.empty())
    return ExitUsage;
  return report.boundHolds ? 0 : 1;
}

} // namespace

int mlir::ad::diff::runDiffTool(int argc, char **argv, RunProgramCommand runProgram) {
  adrt::FloatingPointScope floatingPoint;
  llvm::ArrayRef<const char *> arguments(argv, static_cast<size_t>(argc));
  keepStandardDescriptors();
  endOnLackOfMemory("ad-diff");
  cleanUpOnSignals({SIGINT, SIGTERM, SIGHUP});
  std::signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is an error of the write
  Expected<DiffOptions> options = parseDiffOptions(arguments.drop_front(argc > 0 ? 1 : 0));
  if (options && options->showHelp) {
    printDiffHelp(llvm::outs(), findCommand(argv[1]));
    return finish(DiffReport(), DiffOptions());
  }
  auto run = [&]() -> Expected<DiffReport> {
    if (!options)
      return options.takeError();
    if (!needsCompiler(*options))
      return runCommand(*options);
    return runProgram ? runProgram(*options) : Expected<DiffReport>(startProgramsTool(argv));
  };
  Expected<DiffReport> report = run();
  if (!report) {
    waitForEndBySignal();
    auto [code, message] = consumeExitError(report.takeError());
    complain(message);
    return code == ExitNoTarget ? ExitNoTarget : ExitUsage;
  }
  return finish(*report, *options);
}

int mlir::ad::diff::diffMain(int argc, char **argv) { return runDiffTool(argc, argv, nullptr); }
