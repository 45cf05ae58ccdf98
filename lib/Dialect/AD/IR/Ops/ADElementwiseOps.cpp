// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations: generated definitions. Their types are in BroadcastTypes.cpp, their scalar
// functions in ScalarFunctions.h, their folds in ADElementwiseFolders.cpp.

#include "../Attributes/NameDirectives.h"
#include "../Elementwise.h"
#include "../ScalarFunctions.h"
#include "../ShapeUtils.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"

using namespace mlir;
using namespace mlir::ad;

static ParseResult parsePredicate(OpAsmParser &parser, ComparePredicateAttr &predicate) {
  return parseName(parser, "eq, ne, lt, le, gt or ge", symbolizeComparePredicate, predicate);
}

static void printPredicate(OpAsmPrinter &printer, Operation *, ComparePredicateAttr predicate) {
  printer << stringifyComparePredicate(predicate.getValue());
}

static ParseResult parseForm(OpAsmParser &parser, GeluFormAttr &form) {
  return parseName(parser, "none or tanh", symbolizeGeluForm, form);
}

static void printForm(OpAsmPrinter &printer, Operation *, GeluFormAttr form) {
  printer << stringifyGeluForm(form.getValue());
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADElementwiseOps.cpp.inc"

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input)
    return inferenceError(location, getOperationName()) << "expected a ranked tensor";
  types.push_back(input.clone(IntegerType::get(context, 1)));
  return success();
}

LogicalResult BitcastOp::verify() {
  Type from = getElementTypeOrSelf(getInput()), to = getElementTypeOrSelf(getType());
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth()) // bitcast_c2
    return emitOpError("expected element types of one width, but got ") << from << " and " << to;
  return success();
}

// The verifier says what is wrong with another type.
bool IsFiniteOp::isCompatibleReturnTypes(TypeRange, TypeRange) { return true; }

void ADDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADElementwiseOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADRandomOps.cpp.inc"
      >();
}
