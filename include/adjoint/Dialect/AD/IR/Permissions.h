// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The one place that tests permissions. Patterns, lowerings and code generation ask `allows`; nothing else
// takes the bits of a Permissions apart (test/Permissions/permission_uses_test.py). Whether an option of the
// compilation leaves a permitted rewrite out is a second question: RewriteControl.h.

#ifndef ADJOINT_DIALECT_AD_IR_PERMISSIONS_H
#define ADJOINT_DIALECT_AD_IR_PERMISSIONS_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"

namespace mlir::ad {

/// The permissions of an operation, a fusion, a kernel or a linalg.generic; none without an attribute.
Permissions permissionsOf(Operation *op);

/// Those of `needed` that `given` lacks.
Permissions lackingPermissions(Permissions given, Permissions needed);

/// Whether `given` has all of `needed`.
bool allows(Permissions given, Permissions needed);
/// Whether the operation has all of `needed`.
bool allows(Operation *op, Permissions needed);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_PERMISSIONS_H
