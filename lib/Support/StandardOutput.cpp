// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// LLVM's streams end the process with a crash report when an error of theirs is left unchecked.
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/Printable.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir::ad::runner;

void mlir::ad::runner::keepStandardDescriptors() {
  constexpr int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF)
      continue;
    // The lowest free number is this one: those below it are open.
    [[maybe_unused]] int opened = ::open("/dev/null", modes[descriptor]);
  }
  // Messages that cannot be written leave the exit code as it is. The stream is made first, so that it is
  // destroyed after this function has run.
  llvm::errs();
  std::atexit([] { llvm::errs().clear_error(); });
}

llvm::Error mlir::ad::runner::flushStandardOutput() {
  llvm::outs().flush();
  std::error_code problem = llvm::outs().error();
  llvm::outs().clear_error();
  if (!problem || problem == std::errc::broken_pipe)
    return llvm::Error::success();
  return usageError("cannot write standard output: " + problem.message());
}

static llvm::StringRef toolAtExit;

static void checkAtExit() {
  llvm::Error error = flushStandardOutput();
  if (!error)
    return;
  auto [code, message] = consumeExitError(std::move(error));
  llvm::WithColor::error(mlir::ad::printableErrors(), toolAtExit) << message << "\n";
  ::_exit(code);
}

void mlir::ad::runner::checkStandardOutputAtExit(llvm::StringRef tool) {
  toolAtExit = tool;
  // The stream is made first, so that it is destroyed after the check.
  llvm::outs();
  std::atexit(checkAtExit);
}
