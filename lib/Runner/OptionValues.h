// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of options that are one of a few names. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_OPTIONVALUES_H
#define ADJOINT_LIB_RUNNER_OPTIONVALUES_H

#include "adjoint/Runner/Options.h"

namespace mlir::ad::runner {

/// `, did you mean 'x'?` for the value nearest to `given`, if any is near.
std::string suggestValue(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> known);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_OPTIONVALUES_H
