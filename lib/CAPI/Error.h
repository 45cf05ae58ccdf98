// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Failures of the C++ interface as errors of the C API.
#ifndef ADJOINT_LIB_CAPI_ERROR_H
#define ADJOINT_LIB_CAPI_ERROR_H

#include "adjoint-c/Error.h"
#include "adjoint/Runner/Program.h"

namespace mlir::ad::capi {

AdjointError *makeError(runner::Failure failure);
AdjointError *makeError(runner::Failure::Reason reason, std::string message);
/// Of a call with a null pointer where `what` is expected.
AdjointError *makeMissing(const char *what);

} // namespace mlir::ad::capi

#endif // ADJOINT_LIB_CAPI_ERROR_H
