// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Facts about single operations that the text forms need: the words of recorded texts, which are those of
// another system, and lists of axes and offsets. No other file of the text forms names an operation. An
// operation without an entry here is printed by its mnemonic and attributes.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_OPERATIONTEXTS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_OPERATIONTEXTS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::print {

/// The operation without its number and its operands in recorded words, e.g. `MULT (510)`.
std::string describe(Operation *op, bool inPlace = false);

/// The axes of a contraction, ` batch [0] x [0] contract [2] x [1]`; nothing for other operations.
std::optional<std::string> axesOf(Operation *op);

/// Element i of an axis of a slice is element offset + i * stride of the operand.
struct Steps {
  ArrayRef<int64_t> offsets, strides;
};
/// Nothing for operations that are no slice.
std::optional<Steps> stepsOf(Operation *op);

struct Concatenation {
  ValueRange inputs;
  int64_t axis;
};
/// Nothing for operations that are no concatenation.
std::optional<Concatenation> concatenationOf(Operation *op);

} // namespace mlir::ad::print

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_OPERATIONTEXTS_H
