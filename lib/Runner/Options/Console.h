// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The output of the runner on stderr: messages, located errors of running programs, and, on a terminal only,
// the progress of long work. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_OPTIONS_CONSOLE_H
#define ADJOINT_LIB_RUNNER_OPTIONS_CONSOLE_H

#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace mlir::ad::runner {

class Console {
public:
  /// `program` is the name of the tool.
  explicit Console(llvm::StringRef program);
  /// Writes to a stream that is no terminal.
  Console(llvm::StringRef program, llvm::raw_ostream &os) : program(program), os(os), terminal(false) {}

  void warn(const llvm::Twine &message);
  /// Prints requested information about the run.
  void note(const llvm::Twine &message);
  /// Prints the message of `error`, if it has one, and returns its exit code.
  int fail(llvm::Error error);
  /// Prints an error of a running program like a diagnostic of a compiler: with its line, if it is in
  /// `source`.
  int fail(int32_t status, const adrt::ErrorRecord &error, llvm::MemoryBufferRef source);

  /// Prints a line that the next one overwrites; does nothing unless stderr is a terminal.
  void progress(const llvm::Twine &text);
  /// Limits the progress of frequent events to a few lines in a second.
  bool progressIsDue();
  void clearProgress();

private:
  llvm::StringRef program;
  llvm::raw_ostream &os;
  bool terminal;
  bool showing = false;
  std::chrono::steady_clock::time_point lastProgress;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_OPTIONS_CONSOLE_H
