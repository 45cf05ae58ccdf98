// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_DIALECT_AD_IR_PASSATTRIBUTES_H
#define ADJOINT_DIALECT_AD_IR_PASSATTRIBUTES_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Removes the attributes that passes write for later ones, which believe them, such as `ad.same_sizes`, from
/// a program of a file.
void dropPassAttributes(Operation *program);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_PASSATTRIBUTES_H
