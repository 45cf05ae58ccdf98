// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What all elementwise operations share: type directives, inference by broadcasting, folding. Private to the
// library.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_ELEMENTWISE_H
#define ADJOINT_LIB_DIALECT_AD_IR_ELEMENTWISE_H

#include "Attributes/TypeDirectives.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"

namespace mlir::ad {
// Type directives: one type when all operands agree, else one per operand. The result's type is inferred.
ParseResult parseBroadcastTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printBroadcastTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);
ParseResult parseCompareTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printCompareTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);
ParseResult parseTernaryTypes(OpAsmParser &parser, Type &first, Type &second, Type &third, Type &result);
void printTernaryTypes(OpAsmPrinter &printer, Operation *op, Type first, Type second, Type third,
                       Type result);
// One type is enough for a choice among conditions only.
ParseResult parseSelectTypes(OpAsmParser &parser, Type &condition, Type &onTrue, Type &onFalse, Type &result);
void printSelectTypes(OpAsmPrinter &printer, Operation *op, Type condition, Type onTrue, Type onFalse,
                      Type result);

/// Infers the result of an elementwise operation. The operands from `firstData` on must have one element
/// type, which is the result's unless the result is boolean.
LogicalResult inferBroadcastType(std::optional<Location> location, StringRef opName, ValueRange operands,
                                 unsigned firstData, bool booleanResult, SmallVectorImpl<Type> &types);

/// The result of an elementwise operation on constants, computed as the specification says; null when an
/// operand is not a constant or the result would be large.
DenseElementsAttr evaluateElementwise(Operation *op, ArrayRef<Attribute> operands);

/// Whether every value of `from` is a value of `to`.
bool holdsExactly(Type from, Type to);

/// Whether identities of values hold for the element type. They fail for f8E5M2, since an operation on an
/// infinity saturates.
bool keepsEveryValue(Type element);

/// Folds an elementwise operation by bit-exact identities, or computes it when its operands are constants.
OpFoldResult foldElementwise(Operation *op, ArrayRef<Attribute> operands);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_ELEMENTWISE_H
