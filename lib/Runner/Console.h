// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the runner says to its user: messages, located errors of running programs, and, on a terminal only,
// the progress of long work. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_CONSOLE_H
#define ADJOINT_LIB_RUNNER_CONSOLE_H

#include "Listener.h"
#include "adjoint/Runner/Error.h"
#include "adjoint/Runtime/Context.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace mlir::ad::runner {

class Console final : public Listener {
public:
  Console();

  void warn(const llvm::Twine &message) override;
  /// Prints diagnostics as they come.
  std::shared_ptr<void> watch(llvm::SourceMgr &sources, mlir::MLIRContext *context) override;
  /// Prints the message of `error`, if it has one, and returns its exit code.
  int fail(llvm::Error error);
  /// Prints an error of a running program as a compiler would: with its place in `input`, if it lies there.
  int fail(int32_t status, const adrt::ErrorRecord &error, const llvm::MemoryBuffer &input);

  /// One line that the next one replaces; nothing in a pipe.
  void progress(const llvm::Twine &text) override;
  /// The same for things that happen often: shown a few times in a second.
  bool progressIsDue();
  void clearProgress();

private:
  llvm::raw_ostream &os;
  bool terminal;
  bool showing = false;
  std::chrono::steady_clock::time_point lastProgress;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_CONSOLE_H
