// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the program wrote where a pass put other operations. Locations remember it, so that a run-time error
// names the operation that its reader finds in the source.

#ifndef ADJOINT_DIALECT_AD_IR_WRITTEN_H
#define ADJOINT_DIALECT_AD_IR_WRITTEN_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {
/// The location of `op`, for what takes its place. `operand` says which of its operands that is made for.
Location rememberWritten(Operation *op, std::optional<int64_t> operand = std::nullopt);

/// The name of the operation that the program wrote for `op`; its own unless a pass made it.
StringRef writtenName(Operation *op);

/// The operand that `op` was made for, if one was remembered.
std::optional<int64_t> writtenOperand(Operation *op);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_WRITTEN_H
