// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operation ad.scaled_dot: verifier, sizes, assembly, and the steps that define it. Labels are those of
// docs/spec/contraction.md.

#include "adjoint/Dialect/AD/IR/ScaledDot.h"
#include "DotAxes.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace mlir::ad;

static bool isByteFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

LogicalResult ScaledDotOp::verify() {
  size_t count = getScales().size();
  if (count != 0 && count != 2 && count != 3) // scaled_dot_c2
    return emitOpError(
               "expected no scales, those of lhs and rhs, or those of lhs, rhs and cotangent, but got ")
           << count;
  for (Type type : {getLhsType(), getRhsType(), getCotangentType()})
    if (!isByteFloat(type)) // scaled_dot_c3
      return emitOpError("expected f8E4M3FN or f8E5M2 as types to round to, but got ") << type;
  FailureOr<SmallVector<int64_t>> shape =
      inferDotShape(getLhs().getType().getShape(), getRhs().getType().getShape(), DotAxes::of(*this),
                    [&] { return emitOpError(); });
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != getResult().getType().getShape()) // scaled_dot_c4
    return emitOpError("expected a result of shape ")
           << shapeToString(*shape) << ", but got " << shapeToString(getResult().getType().getShape());
  return success();
}

OrderAttr ScaledDotOp::getCanonicalOrder() {
  return canonicalOrderOfDot(getLhs().getType(), getRhs().getType(), DotAxes::of(*this));
}

LogicalResult ScaledDotOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizesOfDot(builder, getLoc(), getLhs(), getRhs(), DotAxes::of(*this));
  shapes.push_back(normalizeSizes(builder, getLoc(), getResult().getType(), sizes));
  shapes.resize(3);
  return success();
}

void ScaledDotOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs, ValueRange scales,
                        ArrayRef<Type> types, Type element, ArrayRef<int64_t> lhsBatch,
                        ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
                        ArrayRef<int64_t> rhsContract) {
  auto left = cast<RankedTensorType>(lhs.getType()), right = cast<RankedTensorType>(rhs.getType());
  DotAxes axes{llvm::to_vector(lhsBatch), llvm::to_vector(rhsBatch), llvm::to_vector(lhsContract),
               llvm::to_vector(rhsContract)};
  // Wrong axes give a result of rank 0, which the verifier refuses with the reason.
  FailureOr<SmallVector<int64_t>> shape =
      inferDotShape(left.getShape(), right.getShape(), axes, [] { return InFlightDiagnostic(); });
  Type scalar = RankedTensorType::get({}, builder.getF32Type());
  Type type = RankedTensorType::get(shape.value_or(SmallVector<int64_t>()), element);
  build(builder, state, TypeRange{type, scalar, scalar}, lhs, rhs, scales, TypeAttr::get(types[0]),
        TypeAttr::get(types[1]), TypeAttr::get(types[2]), builder.getDenseI64ArrayAttr(lhsBatch),
        builder.getDenseI64ArrayAttr(rhsBatch), builder.getDenseI64ArrayAttr(lhsContract),
        builder.getDenseI64ArrayAttr(rhsContract), OrderAttr(), PermissionsAttr());
}

//===- Assembly -===//

// The types that are left out: those of lhs, rhs and cotangent.
static SmallVector<Type> defaultTypes(MLIRContext *context) {
  Type forward = Float8E4M3FNType::get(context);
  return {forward, forward, Float8E5M2Type::get(context)};
}

// `scales(%a, %b, …)` and `types [t, t, t]`, each if it is present.
static ParseResult parseScalesAndTypes(OpAsmParser &parser,
                                       SmallVectorImpl<OpAsmParser::UnresolvedOperand> &scales,
                                       SmallVectorImpl<Type> &types) {
  if (succeeded(parser.parseOptionalKeyword("scales")) &&
      parser.parseOperandList(scales, OpAsmParser::Delimiter::Paren))
    return failure();
  if (failed(parser.parseOptionalKeyword("types")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  types.clear();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return parser.parseType(types.emplace_back()); }))
    return failure();
  if (types.size() != 3)
    return parser.emitError(loc, "expected the types of lhs, rhs and cotangent, but got ")
           << types.size() << (types.size() == 1 ? " type" : " types");
  return success();
}

ParseResult ScaledDotOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands(2), scales;
  Builder &builder = parser.getBuilder();
  SmallVector<Type> types = defaultTypes(builder.getContext()), operandTypes;
  DotAxes axes;
  bool written = false;
  SMLoc loc = parser.getCurrentLocation(), attributesLoc;
  if (parser.parseOperand(operands[0]) || parser.parseComma() || parser.parseOperand(operands[1]) ||
      parseScalesAndTypes(parser, scales, types) || axes.parse(parser, written))
    return failure();
  attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      failed(verifyInherentAttrs(result.name, result.attributes,
                                 [&] { return parser.emitError(attributesLoc) << "'ad.scaled_dot' op "; })) ||
      parser.parseColon() || parseSignature(parser, operandTypes, result.types) ||
      (!written && axes.resolveMatmul(parser, loc, operandTypes)))
    return failure();
  Type scalar = RankedTensorType::get({}, builder.getF32Type());
  if (parser.resolveOperands(operands, operandTypes, loc, result.operands) ||
      parser.resolveOperands(scales, scalar, result.operands))
    return failure();
  result.types.append({scalar, scalar});
  result.addAttribute(getLhsTypeAttrName(result.name), TypeAttr::get(types[0]));
  result.addAttribute(getRhsTypeAttrName(result.name), TypeAttr::get(types[1]));
  result.addAttribute(getCotangentTypeAttrName(result.name), TypeAttr::get(types[2]));
  result.addAttribute(getLhsBatchAttrName(result.name), builder.getDenseI64ArrayAttr(axes.lhsBatch));
  result.addAttribute(getRhsBatchAttrName(result.name), builder.getDenseI64ArrayAttr(axes.rhsBatch));
  result.addAttribute(getLhsContractAttrName(result.name), builder.getDenseI64ArrayAttr(axes.lhsContract));
  result.addAttribute(getRhsContractAttrName(result.name), builder.getDenseI64ArrayAttr(axes.rhsContract));
  return success();
}

void ScaledDotOp::print(OpAsmPrinter &printer) {
  printer << " " << getLhs() << ", " << getRhs();
  if (!getScales().empty())
    printer << " scales(" << getScales() << ")";
  SmallVector<Type> types = {getLhsType(), getRhsType(), getCotangentType()};
  if (types != defaultTypes(getContext())) {
    printer << " types [";
    llvm::interleaveComma(types, printer);
    printer << "]";
  }
  DotAxes::of(*this).print(printer, getLhs().getType().getRank(), getRhs().getType().getRank());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getLhsTypeAttrName(), getRhsTypeAttrName(), getCotangentTypeAttrName(),
                                 getLhsBatchAttrName(), getRhsBatchAttrName(), getLhsContractAttrName(),
                                 getRhsContractAttrName()});
  printer << " : (" << getLhs().getType() << ", " << getRhs().getType() << ") -> " << getResult().getType();
}

//===- Steps -===//

double ad::largestFinite(Type byteFloat) {
  return APFloat::getLargest(cast<FloatType>(byteFloat).getFloatSemantics()).convertToDouble();
}

// A tensor of static shape as one axis: it is reduced by one kernel.
static Value flatten(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() < 2 || !type.hasStaticShape())
    return value;
  return reshapeTo(builder, loc, value, type.clone(ArrayRef<int64_t>{type.getNumElements()}), {});
}

Value ad::largestMagnitude(OpBuilder &builder, Location loc, Value value) {
  value = flatten(builder, loc, value);
  auto type = cast<RankedTensorType>(value.getType());
  Value magnitude = AbsOp::create(builder, loc, value, PermissionsAttr());
  if (type.getRank() > 0)
    magnitude = ReduceMaxOp::create(builder, loc, magnitude,
                                    llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), false);
  magnitude = castTo(builder, loc, magnitude, builder.getF32Type());
  if (type.hasStaticShape() && type.getNumElements() > 0)
    return magnitude;
  Value zero = scalarConstant(builder, loc, builder.getF32Type(), 0.0);
  return MaxOp::create(builder, loc, magnitude, zero, PermissionsAttr());
}

Value ad::scaleOfMagnitude(OpBuilder &builder, Location loc, Value magnitude, Type byteFloat) {
  auto number = [&](double value) { return scalarConstant(builder, loc, builder.getF32Type(), value); };
  Value largest = number(largestFinite(byteFloat));
  Value ratio = DivOp::create(builder, loc, largest, magnitude, PermissionsAttr());
  Value exponent = FloorOp::create(builder, loc, Log2Op::create(builder, loc, ratio, PermissionsAttr()),
                                   PermissionsAttr());
  Value clamped = ClampOp::create(builder, loc, exponent, number(-126), number(126), PermissionsAttr());
  Value scale = Exp2Op::create(builder, loc, clamped, PermissionsAttr());
  // Just below a power of two, quotient and logarithm may have rounded up to it.
  Value product = MulOp::create(builder, loc, magnitude, scale, PermissionsAttr());
  Value exceeds = CompareOp::create(builder, loc, ComparePredicate::gt, product, largest, PermissionsAttr());
  Value half = MulOp::create(builder, loc, scale, number(0.5), PermissionsAttr());
  scale = SelectOp::create(builder, loc, exceeds, half, scale, PermissionsAttr());
  // NaN is in no order.
  Value positive =
      CompareOp::create(builder, loc, ComparePredicate::gt, magnitude, number(0.0), PermissionsAttr());
  Type condition = RankedTensorType::get({}, builder.getI1Type());
  Value finite = IsFiniteOp::create(builder, loc, condition, magnitude, PermissionsAttr());
  Value usable = AndOp::create(builder, loc, positive, finite, PermissionsAttr());
  return SelectOp::create(builder, loc, usable, scale, number(1.0), PermissionsAttr());
}

Value ad::roundScaled(OpBuilder &builder, Location loc, Value value, Value scale, Type byteFloat) {
  Value wide = castTo(builder, loc, value, builder.getF32Type());
  return castTo(builder, loc, MulOp::create(builder, loc, wide, scale, PermissionsAttr()), byteFloat);
}
