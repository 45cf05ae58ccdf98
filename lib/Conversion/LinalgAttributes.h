// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What linalg itself cannot say about an operation of ours.

#ifndef ADJOINT_LIB_CONVERSION_LINALGATTRIBUTES_H
#define ADJOINT_LIB_CONVERSION_LINALGATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::ad {

/// On the linalg.generic of a contraction: the operation has the permission mma. (The kernel has only the
/// permissions that all its operations share.)
inline constexpr llvm::StringLiteral kMmaAttr = "ad.mma";

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_LINALGATTRIBUTES_H
