// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reference interpreter: runs the `ad` level of any stage op by op, exactly as docs/spec.md says. Clarity
// comes before speed; it is the oracle of the tests.

#ifndef ADJOINT_REFERENCE_REFERENCE_H
#define ADJOINT_REFERENCE_REFERENCE_H

#include "adjoint/Reference/Observer.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::ad {

/// Runs the function `entry` of `module` and returns an adrt_status; call it inside `adrt_context::run`.
/// Scalars of the signature travel as tensors of rank 0, index as i64. Results are allocated with
/// adrt_result. Feeds, receives, checks, run-time errors and polls go through the context, so that their
/// messages are those of compiled code. An operation that the interpreter does not know is an error
/// diagnostic at its location and ADRT_PROGRAM_ERROR, with nothing recorded in the context. `observer`, if
/// there is one, sees each operation after it ran.
int32_t runReference(ModuleOp module, StringRef entry, adrt_context *context, ArrayRef<adrt_tensor> arguments,
                     MutableArrayRef<adrt_tensor> results, reference::Observer *observer = nullptr);

} // namespace mlir::ad

#endif // ADJOINT_REFERENCE_REFERENCE_H
