// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operation of the source from which a pass made another one. Locations record it, so that a run-time
// error names the operation that the user wrote.

#ifndef ADJOINT_DIALECT_AD_IR_WRITTEN_H
#define ADJOINT_DIALECT_AD_IR_WRITTEN_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {
/// The location of `op`, for the operation that replaces it or, with `operand`, is made for this operand.
Location rememberWritten(Operation *op, std::optional<int64_t> operand = std::nullopt);

/// The same with another text for the operation, such as a message that it has.
Location rememberAs(Operation *op, StringRef written);

/// The name of the operation that the program wrote for `op`; its own unless a pass made it.
StringRef writtenName(Operation *op);

/// The operand that `op` was made for, if one was remembered.
std::optional<int64_t> writtenOperand(Operation *op);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_WRITTEN_H
