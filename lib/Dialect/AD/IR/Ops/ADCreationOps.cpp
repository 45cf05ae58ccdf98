// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that create tensors: verifiers, inference, folders.

#include "../Attributes/TypeDirectives.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;
using namespace mlir::ad;

// The text of a constant's value, up to its type.
static StringRef wordAt(SMLoc loc) {
  constexpr size_t most = 32; // of a buffer that ends with a zero
  StringRef rest(loc.getPointer(), strnlen(loc.getPointer(), most));
  return rest.take_until([](char c) { return isspace(static_cast<unsigned char>(c)) || c == ':'; });
}

// A number or a list without `dense` would be parsed as an attribute of another kind, whose errors are
// about the next line.
static ParseResult parseConstantValue(OpAsmParser &parser, ElementsAttr &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word = wordAt(loc);
  if (!word.starts_with("dense") && !word.starts_with("sparse") && !word.starts_with("#")) {
    InFlightDiagnostic error = parser.emitError(loc, "expected dense<...> or dense_resource<...>");
    if (word.starts_with("["))
      return error << ", but got a list; write dense<[...]>";
    bool scalar = !word.empty() && (isdigit(static_cast<unsigned char>(word.front())) || word.front() == '-');
    if (scalar || word == "true" || word == "false")
      return error << ", but got '" << word << "'; write dense<" << word << ">";
    return error;
  }
  Attribute parsed;
  if (parser.parseAttribute(parsed))
    return failure();
  value = dyn_cast<ElementsAttr>(parsed);
  if (!value)
    return parser.emitError(loc, "expected dense<...> or dense_resource<...>, but got ") << parsed;
  return parseNoResultType(parser);
}

static void printConstantValue(OpAsmPrinter &printer, Operation *, ElementsAttr value) { printer << value; }

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADCreationOps.cpp.inc"

void ADDialect::registerCreationOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADCreationOps.cpp.inc"
      >();
}

//===- ConstantOp -===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange,
                                           DictionaryAttr, OpaqueProperties properties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  auto value = dyn_cast_or_null<ElementsAttr>(properties.as<Properties *>()->value);
  auto type = value ? dyn_cast<RankedTensorType>(value.getShapedType()) : nullptr;
  // constant_c1: the attribute is a ranked tensor.
  if (!type)
    return emitOptionalError(location, "'ad.constant' op expected elements of a ranked tensor");
  types.push_back(type);
  return success();
}

LogicalResult ConstantOp::verify() {
  // constant_c2: every element is written down, or is in a resource that exists and has the right length.
  if (isa<DenseElementsAttr>(getValue()))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValue());
  if (!resource)
    return emitOpError("expected dense or dense_resource elements");
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return emitOpError("expected a resource named '")
           << resource.getRawHandle().getKey() << "', but there is none";
  auto type = cast<RankedTensorType>(resource.getType());
  int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (static_cast<int64_t>(blob->getData().size()) != bytes)
    return emitOpError("expected resource '") << resource.getRawHandle().getKey() << "' to hold " << bytes
                                              << " bytes, but got " << blob->getData().size();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) { setNameFn(getResult(), "cst"); }

//===- FullOp -===//

LogicalResult FullOp::verify() {
  // full_c1: the scalar has the element type of the result.
  if (getValue().getType() != getType().getElementType())
    return emitOpError("expected a scalar of type ")
           << getType().getElementType() << ", but got " << getValue().getType();
  // full_c2: one size per dynamic dimension.
  return verifySizes(*this, getType(), getSizes());
}

OpFoldResult FullOp::fold(FoldAdaptor adaptor) {
  if (!adaptor.getValue() || !getType().hasStaticShape())
    return {};
  return DenseElementsAttr::get(getType(), ArrayRef<Attribute>(adaptor.getValue()));
}

LogicalResult FullOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(mixedSizes(builder, getType(), getSizes()));
  return success();
}

//===- IotaOp -===//

LogicalResult IotaOp::verify() {
  // iota_c1: the axis exists.
  int64_t axis = static_cast<int64_t>(getAxis()), rank = getType().getRank();
  if (axis < 0 || axis >= rank)
    return emitOpError("expected an axis of ") << getType() << ", of rank " << rank << ", but got " << axis;
  // iota_c2: one size per dynamic dimension.
  return verifySizes(*this, getType(), getSizes());
}

LogicalResult IotaOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(mixedSizes(builder, getType(), getSizes()));
  return success();
}
