// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Type directives of the assembly formats. Without them, a type too many or of the wrong form is reported in
// the words of MLIR's grammar, often at the next operation.

#include "TypeDirectives.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::ad;

ParseResult ad::parseNoResultType(OpAsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalArrow()))
    return success();
  return parser.emitError(
      loc, "expected no '->', since the type of the result is inferred; remove it and the type after it");
}

// `(tensor<4xf32>) -> tensor<4xf32>` is one type to the parser.
static ParseResult refuseFunctionType(OpAsmParser &parser, SMLoc loc, Type type) {
  if (!isa<FunctionType>(type))
    return success();
  return parser.emitError(loc, "expected the types of the operands alone, since the type of the result is "
                               "inferred, but got ")
         << type;
}

// One type is written for all operands that share it: `%x : T, T` would go on at the next operation.
static ParseResult parseNoFurtherType(OpAsmParser &parser, Type type) {
  if (failed(parser.parseOptionalComma()))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  Type further;
  if (parser.parseType(further))
    return failure();
  return parser.emitError(loc, "expected ")
         << type << " as the last type, since operands and results that share a type have one, but got "
         << further << " after it; remove it";
}

ParseResult ad::parseLastType(OpAsmParser &parser, Type &type) {
  SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseType(type) || refuseFunctionType(parser, loc, type) ||
                 parseNoFurtherType(parser, type) || parseNoResultType(parser));
}

void ad::printLastType(OpAsmPrinter &printer, Operation *, Type type) { printer << type; }

ParseResult ad::parseLastTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseTypeList(types))
    return failure();
  for (Type type : types)
    if (refuseFunctionType(parser, loc, type))
      return failure();
  return parseNoResultType(parser);
}

void ad::printLastTypes(OpAsmPrinter &printer, Operation *, TypeRange types) { printer << types; }

ParseResult ad::parseSameShapeTypes(OpAsmParser &parser, Type &operand, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(operand) || parser.parseArrow() || parser.parseType(result))
    return failure();
  auto from = dyn_cast<RankedTensorType>(operand), to = dyn_cast<RankedTensorType>(result);
  if (from && to && from.getShape() != to.getShape())
    return parser.emitError(loc, "expected operand and result of one shape, but got ")
           << from << " and " << to;
  return success(); // the verifier says what is wrong with other types
}

void ad::printSameShapeTypes(OpAsmPrinter &printer, Operation *, Type operand, Type result) {
  printer << operand << " -> " << result;
}

ParseResult ad::parseSignature(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                               SmallVectorImpl<Type> &results) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto signature = dyn_cast<FunctionType>(type);
  if (!signature)
    return parser.emitError(
               loc, "expected the types of the operands in parentheses and those of the results, as in "
                    "'(A, B) -> C', but got ")
           << type;
  llvm::append_range(operands, signature.getInputs());
  llvm::append_range(results, signature.getResults());
  return success();
}

void ad::printSignature(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange results) {
  printer.printFunctionalType(operands, results);
}
