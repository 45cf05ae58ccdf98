// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Errors of the runner: a message for the user and the exit code of the process.
#ifndef ADJOINT_SUPPORT_ERROR_H
#define ADJOINT_SUPPORT_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::ad::runner {

enum ExitCode : int {
  ExitDone = 0,
  ExitProgramError = 1, // the program is wrong, at compile or run time
  ExitUsage = 2,        // options, arguments, files: errors that the user can fix on the command line
  ExitCheckFailed = 3,
  ExitNoTarget = 4, // there is no such device, or it has too little memory or fails
  ExitStuck = 5,    // a kernel took longer than it may
  ExitInterrupted = 130
};

class ExitError : public llvm::ErrorInfo<ExitError> {
public:
  static char ID;
  ExitError(ExitCode code, std::string message) : code(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  ExitCode code;
  std::string message; ///< empty: the reason has been printed already
};

llvm::Error exitError(ExitCode code, const llvm::Twine &message);
llvm::Error usageError(const llvm::Twine &message);

/// The exit code and the message of `error`. Other errors of LLVM are errors of the program.
std::pair<ExitCode, std::string> consumeExitError(llvm::Error error);

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_ERROR_H
