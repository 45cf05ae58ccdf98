// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Messages and progress on stderr.
#include "Console.h"
#include "adjoint/Support/Printable.h"
#include "adjoint/Support/TemporaryPath.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir::ad::runner;

namespace {

struct Location {
  llvm::StringRef file;
  unsigned line = 0, column = 0;
};

/// FILE:LINE:COL, if `text` has that form.
std::optional<Location> parseLocation(llvm::StringRef text) {
  Location location;
  auto [front, column] = text.rsplit(':');
  auto [file, line] = front.rsplit(':');
  if (file.empty() || line.getAsInteger(10, location.line) || column.getAsInteger(10, location.column))
    return std::nullopt;
  location.file = file;
  return location;
}

llvm::StringRef findLine(llvm::StringRef text, unsigned number) {
  for (unsigned line = 1; line < number && !text.empty(); ++line)
    text = text.split('\n').second;
  return text.split('\n').first.rtrim('\r');
}

ExitCode exitCodeOf(int32_t status) {
  switch (status) {
  case ADRT_CHECK_FAILED:
    return ExitCheckFailed;
  case ADRT_TARGET_ERROR:
    return ExitNoTarget;
  case ADRT_HOST_ERROR:
    return ExitUsage;
  case ADRT_INTERRUPTED:
    return ExitInterrupted;
  default:
    return ExitProgramError;
  }
}

} // namespace

Console::Console(llvm::StringRef program)
    : program(program), os(mlir::ad::printableErrors()),
      terminal(llvm::sys::Process::StandardErrIsDisplayed()) {}

void Console::note(const llvm::Twine &message) {
  clearProgress();
  os << program << ": " << message << '\n';
}

void Console::warn(const llvm::Twine &message) {
  clearProgress();
  llvm::WithColor::warning(os, program) << messageText(message) << '\n';
}

int Console::fail(llvm::Error error) {
  waitForEndBySignal();
  clearProgress();
  auto [code, message] = consumeExitError(std::move(error));
  if (!message.empty())
    llvm::WithColor::error(os, program) << messageText(message) << '\n';
  return code;
}

int Console::fail(int32_t status, const adrt::ErrorRecord &error, llvm::MemoryBufferRef source) {
  clearProgress();
  ExitCode code = exitCodeOf(status);
  bool recorded = error.status != ADRT_OK;
  // For a recorded error without a message, diagnostics have been printed.
  if (recorded && error.message.empty())
    return code;
  std::string message = recorded ? error.message : "the program failed without a reason";
  if (!error.operation.empty())
    message = "'" + error.operation + "' op " + message;
  message = messageText(message);
  std::optional<Location> location = parseLocation(error.location);
  llvm::StringRef line = location && location->file == source.getBufferIdentifier()
                             ? findLine(source.getBuffer(), location->line)
                             : "";
  if (location && location->column > 0 && !line.empty()) {
    llvm::SourceMgr sources;
    llvm::SMDiagnostic(sources, llvm::SMLoc(), location->file, static_cast<int>(location->line),
                       static_cast<int>(location->column) - 1, llvm::SourceMgr::DK_Error, message, line, {})
        .print(nullptr, os, /*ShowColors=*/terminal);
    return code;
  }
  if (!error.location.empty())
    os << error.location << ": ";
  llvm::WithColor::error(os, error.location.empty() ? program : "") << message << '\n';
  return code;
}

void Console::progress(const llvm::Twine &text) {
  if (!terminal)
    return;
  // A longer line would wrap, and the next one would not overwrite it.
  constexpr size_t maxWidth = 78;
  llvm::errs() << "\r\x1b[K" << mlir::ad::printable(llvm::StringRef(text.str()).take_front(maxWidth));
  showing = true;
  lastProgress = std::chrono::steady_clock::now();
}

bool Console::progressIsDue() {
  return terminal && std::chrono::steady_clock::now() - lastProgress > std::chrono::milliseconds(100);
}

void Console::clearProgress() {
  if (!showing)
    return;
  llvm::errs() << "\r\x1b[K";
  showing = false;
}
