// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_DIALECT_AD_IR_PASSATTRIBUTES_H
#define ADJOINT_DIALECT_AD_IR_PASSATTRIBUTES_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Whether a pass writes the attribute for later ones, which believe it: such as `ad.same_sizes`.
bool isPassAttribute(StringRef name);

/// Removes such attributes from a program of a file, for which the passes write their own.
void dropPassAttributes(Operation *program);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_PASSATTRIBUTES_H
