// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Type directives of the assembly formats, whose errors say which types an operation expects. Private to the
// library.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_TYPEDIRECTIVES_H
#define ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_TYPEDIRECTIVES_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::ad {
/// Refuses `->` after the types of an operation whose result type is inferred.
ParseResult parseNoResultType(OpAsmParser &parser);

/// The last type, or the list of all types, of an operation whose result type is inferred.
ParseResult parseLastType(OpAsmParser &parser, Type &type);
void printLastType(OpAsmPrinter &printer, Operation *op, Type type);
ParseResult parseLastTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types);
void printLastTypes(OpAsmPrinter &printer, Operation *op, TypeRange types);

/// The types of operand and result of an operation that changes elements and keeps the shape.
ParseResult parseSameShapeTypes(OpAsmParser &parser, Type &operand, Type &result);
void printSameShapeTypes(OpAsmPrinter &printer, Operation *op, Type operand, Type result);

/// The types of operands and results of an operation that names both: `(A, B) -> C`.
ParseResult parseSignature(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                           SmallVectorImpl<Type> &results);
void printSignature(OpAsmPrinter &printer, Operation *op, TypeRange operands, TypeRange results);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_TYPEDIRECTIVES_H
