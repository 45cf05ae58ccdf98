// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Run-time conditions on the sizes of launches that the program itself holds, whose kernels other compilers
// wrote.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_LAUNCHCHECKS_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_LAUNCHCHECKS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Writes an `ad.require` before the launch for each condition on sizes that types do not decide:
/// - operands of an operation of the kernel agree about the size of each loop, and their maps stay inside;
/// - the sizes of the launch are those that the kernel yields;
/// - results that share loops have one size.
/// Fails after a diagnostic where a size is not known before the launch, and for a launch with destinations,
/// which come after these conditions.
LogicalResult requireSizesOfLaunch(LaunchOp launch);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_LAUNCHCHECKS_H
