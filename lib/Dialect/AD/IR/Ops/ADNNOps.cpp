// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Neural-network operations: verifiers and sizes. Labels are those of docs/spec/nn.md.

#include "../ShapeUtils.h"
#include "adjoint/Dialect/AD/IR/ADAttentionOps.h"
#include "adjoint/Dialect/AD/IR/ADLayerOps.h"

using namespace mlir;
using namespace mlir::ad;

// The result has the leading sizes of `source`: all of them, or all but the last.
static LogicalResult reifyLeadingSizes(Operation *op, Value source, OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> leading = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  shapes.push_back(
      normalizeSizes(builder, op->getLoc(), type, selectSizes(builder, op->getLoc(), source, leading)));
  return success();
}

static LogicalResult verifySoftmax(Operation *op, int64_t axis) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  return verifyAxis(axis, rank, [&] { return op->emitOpError(); }); // softmax_c1, log_softmax_c1
}

// The canonical order of sums along an axis: in lanes along the innermost one, else in blocks.
static OrderAttr orderAlongAxis(RankedTensorType type, int64_t axis) {
  bool innermost = axis == type.getRank() - 1;
  return innermost ? OrderAttr::canonicalLanes(type.getContext())
                   : OrderAttr::canonicalBlocks(type.getContext());
}

// The constraints of the normalizations; `parameter` is the type of scale and bias.
static LogicalResult verifyNormalization(Operation *op, RankedTensorType parameter, const APFloat &epsilon) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  if (input.getRank() == 0) // norm_c1
    return op->emitOpError("expected an input of rank 1 or more, but its rank is 0");
  if (parameter.getRank() != 1 || parameter.getElementType() != input.getElementType() ||
      !maySizesAgree(parameter.getDimSize(0), input.getShape().back())) // norm_c2
    return op->emitOpError("expected parameters of type ")
           << RankedTensorType::get(input.getShape().take_back(1), input.getElementType()) << ", but got "
           << parameter;
  if (!epsilon.isFinite() || (epsilon.isNegative() && !epsilon.isZero())) // norm_c3
    return op->emitOpError("expected a finite epsilon of at least 0, but got ") << epsilon.convertToDouble();
  return success();
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADNNOps.cpp.inc"

void ADDialect::registerNNOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADNNOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADAttentionOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADLayerOps.cpp.inc"
      >();
}

// Whether two shapes can be one at run time.
static bool mayShapesAgree(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  return lhs.size() == rhs.size() && llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           return maySizesAgree(std::get<0>(pair), std::get<1>(pair));
         });
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto logits = dyn_cast<RankedTensorType>(adaptor.getLogits().getType());
  if (!logits || logits.getRank() == 0) // cross_entropy_c1
    return inferenceError(location, getOperationName())
           << "expected logits of rank 1 or more, but their rank is 0";
  types.push_back(RankedTensorType::get(logits.getShape().drop_back(), logits.getElementType()));
  return success();
}

// The verifier says what is wrong with another type.
bool CrossEntropyOp::isCompatibleReturnTypes(TypeRange, TypeRange) { return true; }

LogicalResult CrossEntropyOp::verify() {
  RankedTensorType logits = getLogits().getType(), labels = getLabels().getType();
  if (logits.getRank() == 0) // cross_entropy_c1
    return emitOpError("expected logits of rank 1 or more, but their rank is 0");
  ArrayRef<int64_t> rows = logits.getShape().drop_back();
  Type label = labels.getElementType();
  bool classes = label.isInteger(32) || label.isInteger(64);
  if (!classes && label != logits.getElementType()) // cross_entropy_c2
    return emitOpError("expected labels with elements of type ")
           << logits.getElementType() << ", i32 or i64, but got " << label;
  ArrayRef<int64_t> expected = classes ? rows : logits.getShape();
  if (!mayShapesAgree(labels.getShape(), expected)) // cross_entropy_c3
    return emitOpError("expected labels of shape ")
           << shapeToString(expected) << ", but got " << shapeToString(labels.getShape());
  auto loss = RankedTensorType::get(rows, logits.getElementType());
  if (getType() != loss) // cross_entropy_c4
    return emitOpError("expected a result of type ") << loss << ", but got " << getType();
  if (getIgnored() && !classes) // cross_entropy_c5
    return emitOpError("expected class numbers with 'ignored', but got labels of type ") << label;
  if (getIgnored() && !llvm::isIntN(label.getIntOrFloatBitWidth(), *getIgnored())) // cross_entropy_c5
    return emitOpError("expected 'ignored' to be a number of type ")
           << label << ", but got " << static_cast<int64_t>(*getIgnored());
  return success();
}

OrderAttr CrossEntropyOp::getCanonicalOrder() { return OrderAttr::canonicalLanes(getContext()); }

LogicalResult CrossEntropyOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyLeadingSizes(*this, getLogits(), builder, shapes);
}
