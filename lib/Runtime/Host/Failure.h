/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Messages of run-time errors. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_FAILURE_H
#define ADJOINT_LIB_RUNTIME_HOST_FAILURE_H

#include "adjoint/Runtime/adrt.h"

#include <string>

namespace adrt {

/// The message of adrt_fail.
std::string describeFailure(int32_t kind, const int64_t *values, int32_t count);

/// Compares as adrt_check. Empty when the check holds, else the message.
std::string describeCheck(int32_t kind, double tolerance, bool relative, const adrt_tensor &actual,
                          const adrt_tensor *expected);

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_FAILURE_H
