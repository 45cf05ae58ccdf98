// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs of the C API.
#ifndef ADJOINT_LIB_CAPI_PROGRAM_H
#define ADJOINT_LIB_CAPI_PROGRAM_H

#include "adjoint-c/Program.h"

#include <string_view>

namespace mlir::ad::capi {

/// As adjointProgramCompile.
AdjointError *compileProgram(std::string_view source, std::string_view name, const AdjointOption *options,
                             size_t count, AdjointProgram **program);

} // namespace mlir::ad::capi

#endif // ADJOINT_LIB_CAPI_PROGRAM_H
