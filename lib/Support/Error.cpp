// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Errors with exit codes.
#include "adjoint/Support/Error.h"

using namespace mlir::ad::runner;

char ExitError::ID;

llvm::Error mlir::ad::runner::exitError(ExitCode code, const llvm::Twine &message) {
  return llvm::make_error<ExitError>(code, message.str());
}

llvm::Error mlir::ad::runner::usageError(const llvm::Twine &message) { return exitError(ExitUsage, message); }

std::pair<ExitCode, std::string> mlir::ad::runner::consumeExitError(llvm::Error error) {
  if (!error)
    return {ExitDone, ""};
  ExitCode code = ExitDone;
  std::string message;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    bool ours = info.isA<ExitError>();
    if (code == ExitDone)
      code = ours ? static_cast<const ExitError &>(info).code : ExitProgramError;
    std::string text = info.message();
    message += message.empty() || text.empty() ? text : "; " + text;
  });
  return {code, message};
}
