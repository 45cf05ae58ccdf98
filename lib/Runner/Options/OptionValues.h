// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Suggestions for values, and checks of combinations of options. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_OPTIONS_OPTIONVALUES_H
#define ADJOINT_LIB_RUNNER_OPTIONS_OPTIONVALUES_H

#include "adjoint/Runner/Options/Options.h"

namespace mlir::ad::runner {

/// An error when one of the options `given`, by name, has no effect for the target or together with another
/// option.
llvm::Error checkOptionsTogether(llvm::ArrayRef<llvm::StringRef> given, const Options &options);
/// An error when --env or --version is given together with an option that it does not read.
llvm::Error checkOptionsOfText(llvm::ArrayRef<llvm::StringRef> given);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_OPTIONS_OPTIONVALUES_H
