// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which element of an operand a kernel reads, as an expression over its loop indices. Data movement between
// the operand and its reader is folded into the expression.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_ACCESS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_ACCESS_H

#include "Nodes.h"

namespace mlir::ad::print {

/// Movement that costs a kernel nothing but another expression.
bool isFolded(Operation *op);

/// The operand as the operation reads it: `Mat (id: 2, ((Y * 255) + X))`, a number for a constant.
std::string operandText(OpOperand &operand, const Nodes &nodes);
/// A tensor that is read in its own layout.
std::string wholeText(Value tensor, const Nodes &nodes);
/// The source of moved data.
std::string movedText(Value tensor, const Nodes &nodes);
/// The result as the operation writes it.
std::string resultText(Value result, const Nodes &nodes);

} // namespace mlir::ad::print

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_ACCESS_H
