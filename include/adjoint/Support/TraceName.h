// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The name under which a traced program passes the results of its kernels to the host.
#ifndef ADJOINT_SUPPORT_TRACENAME_H
#define ADJOINT_SUPPORT_TRACENAME_H

#include "llvm/ADT/StringRef.h"

namespace mlir::ad {

/// The name of the `ad.receive` operations that `ad-insert-trace` inserts. No program may use it.
constexpr llvm::StringLiteral kTraceName("ad.trace");

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_TRACENAME_H
