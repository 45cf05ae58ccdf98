// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Signals, output and exit codes.
#include "Tool.h"
#include "adjoint/Numerics/BuiltinPolicies.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/MemoryLimit.h"
#include "adjoint/Support/OutOfMemory.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/TemporaryPath.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// Seconds after Ctrl-C until a message says that the program still runs: a long kernel does not poll.
constexpr unsigned kQuietSeconds = 1;

// The second Ctrl-C ends a program that does not poll; files that were flushed before are valid.
void onInterrupt(int signal) {
  if (interrupted)
    return cleanUpAndEndBy(signal);
  interrupted = true;
  alarm(kQuietSeconds);
}

/// A signal handler may call write(2), but must not use streams or change errno.
void onStillRunning(int) {
  int before = errno;
  constexpr llvm::StringLiteral message =
      "interrupted: the program stops after the current kernel or pass; press Ctrl-C again to end it now\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  errno = before;
}

void handleInterrupts() {
  struct sigaction action = {};
  action.sa_handler = onStillRunning;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = onInterrupt;
  sigaction(SIGINT, &action, nullptr);
}

void installSignalHandlers() {
  cleanUpOnSignals({SIGTERM, SIGHUP});
  // A program that was started with SIGINT ignored (nohup, background of a script) keeps ignoring it.
  if (std::signal(SIGINT, SIG_IGN) != SIG_IGN)
    handleInterrupts();
  // With these signals ignored, a closed pipe or a file size limit makes the write fail, which is reported.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int flushOutput(Console &console, int code) {
  llvm::Error error = flushStandardOutput();
  if (!error)
    return code;
  int failure = console.fail(std::move(error));
  return code == ExitDone ? failure : code;
}

int writeReport(Console &console, const Options &options, const Report &report, int code) {
  if (options.report.empty())
    return code;
  if (llvm::Error error = writeFile(options.report, {ad::jsonText(toJSON(report))})) {
    int failure = console.fail(std::move(error));
    return code == ExitDone ? failure : code;
  }
  return code;
}

/// Checks before the run that all files that options name can be written.
llvm::Error checkOutputs(const Options &options) {
  for (llvm::StringRef path : {options.report, options.numericsReport, options.dumpOptimized,
                               options.dumpPlan, options.emit, options.listRewrites})
    if (llvm::Error error = checkWritable(path))
      return error;
  return checkWritable(options.bench, /*isAppendedTo=*/true);
}

int runProgram(const Tool &tool, const Options &options, Console &console, Clock::time_point start) {
  adrt::setMemoryLimit(options.memoryLimit);
  Report report;
  report.file = options.input;
  report.entry = options.entry;
  report.target = targetName(options.target).str();
  if (llvm::Error error = checkOutputs(options))
    return console.fail(std::move(error));
  int code = tool.run({options, report, console, [] { return interrupted.load(); }, start});
  code = flushOutput(console, code);
  report.exitCode = code;
  return writeReport(console, options, report, code);
}

} // namespace

int mlir::ad::runner::runTool(int argc, char **argv, const Tool &tool) {
  Clock::time_point start = Clock::now();
  keepStandardDescriptors();
  endOnLackOfMemory(toolName(tool.optionSet));
  installSignalHandlers();
  Console console(toolName(tool.optionSet));
  llvm::Expected<Options> options =
      parseOptions(llvm::ArrayRef(argv, argc).drop_front(argc > 0), tool.optionSet);
  if (!options)
    return console.fail(options.takeError());
  if (!options->showHelp && !isAboutTool(*options))
    return runProgram(tool, *options, console, start);
  if (options->showHelp)
    printHelp(llvm::outs(), tool.optionSet);
  else if (options->showVersion)
    tool.printVersion(llvm::outs());
  else if (!options->printPrecision.empty())
    llvm::outs() << ad::numerics::builtinPolicyText(options->printPrecision);
  else if (options->listKernels)
    tool.printKernels(llvm::outs());
  else
    tool.printEnvironment(llvm::outs(), *options);
  return flushOutput(console, ExitDone);
}
