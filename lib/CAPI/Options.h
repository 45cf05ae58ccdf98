// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Options of the C API: names and values as text.
#ifndef ADJOINT_LIB_CAPI_OPTIONS_H
#define ADJOINT_LIB_CAPI_OPTIONS_H

#include "adjoint-c/Program.h"
#include "adjoint/Runner/Program.h"

namespace mlir::ad::capi {

/// Null, or an error that names the option. Values are checked where they are used, but for numbers and
/// booleans.
AdjointError *readOptions(const AdjointOption *options, size_t count, runner::ProgramOptions &result);

} // namespace mlir::ad::capi

#endif // ADJOINT_LIB_CAPI_OPTIONS_H
