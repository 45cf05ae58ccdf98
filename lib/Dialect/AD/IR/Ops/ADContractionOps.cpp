// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions: verifiers, sizes, builders and the assembly of ad.dot. Labels are those of
// docs/spec/contraction.md.

#include "../DotAxes.h"

using namespace mlir;
using namespace mlir::ad;

static ParseResult parseGemmTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &bias, Type &result) {
  SmallVector<Type> operands, results;
  SMLoc loc = parser.getCurrentLocation();
  if (parseSignature(parser, operands, results))
    return failure();
  if (operands.size() < 2 || operands.size() > 3 || results.size() != 1)
    return parser.emitError(loc,
                            "expected the types of two matrices, of the bias if there is one, and of one "
                            "result, but got ")
           << FunctionType::get(parser.getContext(), operands, results);
  lhs = operands[0];
  rhs = operands[1];
  bias = operands.size() == 3 ? operands[2] : Type();
  result = results[0];
  return success();
}

static void printGemmTypes(OpAsmPrinter &printer, Operation *op, Type, Type, Type, Type) {
  printer.printFunctionalType(op);
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADContractionOps.cpp.inc"

void ADDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADContractionOps.cpp.inc"
      >();
}

SmallVector<int64_t> ad::freeAxes(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis))
      axes.push_back(axis);
  return axes;
}

// dot_c1, gemm_c1: one operand element, or two 8-bit floats; the result has it, or the accumulator's.
static LogicalResult verifyElements(Operation *op, Type lhs, Type rhs, Type result) {
  auto isByteFloat = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; };
  if (lhs != rhs && !(isByteFloat(lhs) && isByteFloat(rhs)))
    return op->emitOpError("expected operands of one element type or of two 8-bit float types, but got ")
           << lhs << " and " << rhs;
  if (isOperandOrAccumulator(lhs, result) || result == rhs)
    return success();
  InFlightDiagnostic error = op->emitOpError("expected a result with elements of type ") << lhs;
  if (rhs != lhs)
    error << " or " << rhs;
  if (Type wide = accumulatorType(lhs); wide != lhs)
    error << " or " << wide;
  return error << ", but got " << result << "; convert the result with ad.cast";
}

// dot_c2 and dot_c3 for one operand.
static LogicalResult verifyOperandAxes(ArrayRef<int64_t> batch, ArrayRef<int64_t> contract, int64_t rank,
                                       StringRef side, EmitError error) {
  SmallVector<bool> used(rank, false);
  for (int64_t axis : llvm::concat<const int64_t>(batch, contract)) {
    if (axis < 0 || axis >= rank) // dot_c3
      return error() << "expected axes of the " << side << " operand of rank " << rank << ", but got "
                     << axis;
    if (used[axis]) // dot_c3
      return error() << "expected each axis of the " << side << " operand once, but got " << axis << " twice";
    used[axis] = true;
  }
  return success();
}

// dot_c4: paired axes have one size.
static LogicalResult verifyPairs(ArrayRef<int64_t> lhsAxes, ArrayRef<int64_t> rhsAxes, ArrayRef<int64_t> lhs,
                                 ArrayRef<int64_t> rhs, StringRef kind, EmitError error) {
  for (auto [left, right] : llvm::zip_equal(lhsAxes, rhsAxes))
    if (!maySizesAgree(lhs[left], rhs[right]))
      return error() << kind << " axes " << left << " and " << right << " have sizes " << lhs[left] << " and "
                     << rhs[right];
  return success();
}

FailureOr<SmallVector<int64_t>> ad::inferDotShape(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
                                                  const DotAxes &axes, EmitError error) {
  if (axes.lhsBatch.size() != axes.rhsBatch.size() ||
      axes.lhsContract.size() != axes.rhsContract.size()) // dot_c2
    return error() << "expected as many batch and contracting axes of both operands, but got "
                   << axes.lhsBatch.size() << " x " << axes.rhsBatch.size() << " and "
                   << axes.lhsContract.size() << " x " << axes.rhsContract.size();
  if (failed(verifyOperandAxes(axes.lhsBatch, axes.lhsContract, lhs.size(), "left", error)) ||
      failed(verifyOperandAxes(axes.rhsBatch, axes.rhsContract, rhs.size(), "right", error)) ||
      failed(verifyPairs(axes.lhsBatch, axes.rhsBatch, lhs, rhs, "batch", error)) ||
      failed(verifyPairs(axes.lhsContract, axes.rhsContract, lhs, rhs, "contracting", error)))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [left, right] : llvm::zip_equal(axes.lhsBatch, axes.rhsBatch))
    shape.push_back(commonSize(lhs[left], rhs[right]));
  for (int64_t axis : freeAxes(lhs.size(), axes.lhsBatch, axes.lhsContract))
    shape.push_back(lhs[axis]);
  for (int64_t axis : freeAxes(rhs.size(), axes.rhsBatch, axes.rhsContract))
    shape.push_back(rhs[axis]);
  return shape;
}

LogicalResult DotOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto lhs = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (!lhs || !rhs)
    return error() << "expected ranked tensors";
  FailureOr<SmallVector<int64_t>> shape =
      inferDotShape(lhs.getShape(), rhs.getShape(), DotAxes::of(adaptor), error);
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, lhs.getElementType()));
  return success();
}

// The verifier says which other types are right.
bool DotOp::isCompatibleReturnTypes(TypeRange, TypeRange) { return true; }

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (failed(verifyElements(*this, lhs.getElementType(), rhs.getElementType(), getType().getElementType())))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      inferDotShape(lhs.getShape(), rhs.getShape(), DotAxes::of(*this), [&] { return emitOpError(); });
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != getType().getShape()) // dot_c5
    return emitOpError("expected a result of shape ")
           << shapeToString(*shape) << ", but got " << shapeToString(getType().getShape());
  return success();
}

OrderAttr ad::canonicalOrderOfDot(RankedTensorType lhs, RankedTensorType rhs, const DotAxes &axes) {
  int64_t used = axes.lhsBatch.size() + axes.lhsContract.size();
  bool noFreeAxis = lhs.getRank() == used && rhs.getRank() == used;
  MLIRContext *context = lhs.getContext();
  return noFreeAxis ? OrderAttr::canonicalLanes(context) : OrderAttr::canonicalBlocks(context);
}

OrderAttr DotOp::getCanonicalOrder() {
  return canonicalOrderOfDot(getLhs().getType(), getRhs().getType(), DotAxes::of(*this));
}

SmallVector<OpFoldResult> ad::sizesOfDot(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                                         const DotAxes &axes) {
  SmallVector<int64_t> left = axes.lhsBatch;
  llvm::append_range(
      left, freeAxes(cast<RankedTensorType>(lhs.getType()).getRank(), axes.lhsBatch, axes.lhsContract));
  SmallVector<OpFoldResult> sizes = selectSizes(builder, loc, lhs, left);
  llvm::append_range(sizes, selectSizes(builder, loc, rhs,
                                        freeAxes(cast<RankedTensorType>(rhs.getType()).getRank(),
                                                 axes.rhsBatch, axes.rhsContract)));
  return sizes;
}

LogicalResult DotOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizesOfDot(builder, getLoc(), getLhs(), getRhs(), DotAxes::of(*this));
  shapes.push_back(normalizeSizes(builder, getLoc(), getType(), sizes));
  return success();
}

void DotOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch,
                  ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract, ArrayRef<int64_t> rhsContract) {
  auto left = cast<RankedTensorType>(lhs.getType()), right = cast<RankedTensorType>(rhs.getType());
  DotAxes axes{llvm::to_vector(lhsBatch), llvm::to_vector(rhsBatch), llvm::to_vector(lhsContract),
               llvm::to_vector(rhsContract)};
  // Wrong axes give a result of rank 0, which the verifier refuses with the reason.
  FailureOr<SmallVector<int64_t>> shape =
      inferDotShape(left.getShape(), right.getShape(), axes, [] { return InFlightDiagnostic(); });
  Type type = RankedTensorType::get(shape.value_or(SmallVector<int64_t>()), left.getElementType());
  build(builder, state, type, lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract, nullptr, nullptr);
}

void DotOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {
  std::optional<DotAxes> axes = DotAxes::ofMatmul(cast<RankedTensorType>(lhs.getType()).getRank(),
                                                  cast<RankedTensorType>(rhs.getType()).getRank());
  assert(axes && "operands without matmul's axes need lists");
  DotAxes given = axes.value_or(DotAxes());
  build(builder, state, lhs, rhs, given.lhsBatch, given.rhsBatch, given.lhsContract, given.rhsContract);
}

//===- Assembly -===//

ParseResult DotOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand, 2> operands(2);
  DotAxes axes;
  bool written = false;
  SmallVector<Type> operandTypes;
  SMLoc loc = parser.getCurrentLocation(), attributesLoc;
  if (parser.parseOperand(operands[0]) || parser.parseComma() || parser.parseOperand(operands[1]) ||
      axes.parse(parser, written))
    return failure();
  attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      failed(verifyInherentAttrs(result.name, result.attributes,
                                 [&] { return parser.emitError(attributesLoc) << "'ad.dot' op "; })) ||
      parser.parseColon() || parseSignature(parser, operandTypes, result.types) ||
      (!written && axes.resolveMatmul(parser, loc, operandTypes)) ||
      parser.resolveOperands(operands, operandTypes, loc, result.operands))
    return failure();
  Builder &builder = parser.getBuilder();
  result.addAttribute(getLhsBatchAttrName(result.name), builder.getDenseI64ArrayAttr(axes.lhsBatch));
  result.addAttribute(getRhsBatchAttrName(result.name), builder.getDenseI64ArrayAttr(axes.rhsBatch));
  result.addAttribute(getLhsContractAttrName(result.name), builder.getDenseI64ArrayAttr(axes.lhsContract));
  result.addAttribute(getRhsContractAttrName(result.name), builder.getDenseI64ArrayAttr(axes.rhsContract));
  return success();
}

void DotOp::print(OpAsmPrinter &printer) {
  printer << " " << getLhs() << ", " << getRhs();
  DotAxes::of(*this).print(printer, getLhs().getType().getRank(), getRhs().getType().getRank());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getLhsBatchAttrName(), getRhsBatchAttrName(),
                                                      getLhsContractAttrName(), getRhsContractAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===- ad.gemm -===//

// gemm_c5: the bias repeats to the result's shape.
static LogicalResult verifyBias(GemmOp op, RankedTensorType bias) {
  Type element = bias.getElementType();
  if (element != op.getLhs().getType().getElementType() &&
      element != op.getType().getElementType()) // gemm_c1
    return op.emitOpError("expected a bias with elements of type ")
           << op.getLhs().getType().getElementType() << " or " << op.getType().getElementType()
           << ", but got " << element;
  ArrayRef<int64_t> result = op.getType().getShape();
  bool repeats = bias.getRank() <= 2;
  for (int64_t axis = bias.getRank(), last = 1; repeats && axis > 0; --axis, --last)
    repeats = bias.getDimSize(axis - 1) == 1 || maySizesAgree(bias.getDimSize(axis - 1), result[last]);
  if (!repeats)
    return op.emitOpError("cannot broadcast a bias of shape ")
           << shapeToString(bias.getShape()) << " to " << shapeToString(result);
  return success();
}

LogicalResult GemmOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto lhs = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!lhs || !rhs)
    return inferenceError(location, getOperationName()) << "expected ranked tensors";
  if (lhs.getRank() != 2 || rhs.getRank() != 2) // gemm_c2
    return inferenceError(location, getOperationName())
           << "expected operands of rank 2, but got ranks " << lhs.getRank() << " and " << rhs.getRank();
  types.push_back(RankedTensorType::get(
      {lhs.getDimSize(adaptor.getTransA() ? 1 : 0), rhs.getDimSize(adaptor.getTransB() ? 0 : 1)},
      lhs.getElementType()));
  return success();
}

// The verifier says which other types are right.
bool GemmOp::isCompatibleReturnTypes(TypeRange, TypeRange) { return true; }

LogicalResult GemmOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (failed(verifyElements(*this, lhs.getElementType(), rhs.getElementType(), getType().getElementType())))
    return failure();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || getType().getRank() != 2) // gemm_c2
    return emitOpError("expected operands and a result of rank 2, but got ranks ")
           << lhs.getRank() << ", " << rhs.getRank() << " and " << getType().getRank();
  int64_t left = getTransA() ? 0 : 1, right = getTransB() ? 1 : 0;
  if (!maySizesAgree(lhs.getDimSize(left), rhs.getDimSize(right))) // gemm_c3
    return emitOpError("contracting axes ") << left << " and " << right << " have sizes "
                                            << lhs.getDimSize(left) << " and " << rhs.getDimSize(right);
  SmallVector<int64_t> shape = {lhs.getDimSize(1 - left), rhs.getDimSize(1 - right)};
  if (ArrayRef<int64_t>(shape) != getType().getShape()) // gemm_c4
    return emitOpError("expected a result of shape ")
           << shapeToString(shape) << ", but got " << shapeToString(getType().getShape());
  if (getBias())
    return verifyBias(*this, getBias().getType());
  if (!getBeta().isExactlyValue(1.0)) // gemm_c6
    return emitOpError("expected no beta without a bias");
  return success();
}

OrderAttr GemmOp::getCanonicalOrder() { return OrderAttr::canonicalBlocks(getContext()); }

LogicalResult GemmOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = {sizeOf(builder, getLoc(), getLhs(), getTransA() ? 1 : 0),
                                     sizeOf(builder, getLoc(), getRhs(), getTransB() ? 0 : 1)};
  shapes.push_back(normalizeSizes(builder, getLoc(), getType(), sizes));
  return success();
}
