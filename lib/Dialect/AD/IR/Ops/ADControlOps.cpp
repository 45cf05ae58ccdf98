// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Barriers and the connection to the host: verifiers and sizes.

#include "../Attributes/TypeDirectives.h"
#include "../Destinations.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Support/Printable.h"

using namespace mlir;
using namespace mlir::ad;

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADControlOps.cpp.inc"

void ADDialect::registerControlOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADControlOps.cpp.inc"
      >();
}

LogicalResult BarrierOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                          DictionaryAttr, OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult BarrierOp::verify() {
  // barrier_c1: at least one operand.
  if (getInputs().empty())
    return emitOpError("expected at least one operand");
  return success();
}

LogicalResult StopGradientOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(reifyBroadcastShape(builder, getLoc(), getInput()));
  return success();
}

LogicalResult FeedOp::verify() {
  // feed_c1: a stream has a name, of printable characters.
  if (getName().empty())
    return emitOpError("expected the name of a stream, but got an empty string");
  if (!isPrintable(getName()))
    return emitOpError("expected a name of printable characters, but got ") << getNameAttr();
  // feed_c2: one size per dynamic dimension.
  if (failed(verifySizes(*this, getType(), getSizes())))
    return failure();
  return getDestination() ? verifyDestinations(*this, getDestination()) : success();
}

LogicalResult FeedOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(mixedSizes(builder, getType(), getSizes()));
  return success();
}

LogicalResult ReceiveOp::verify() {
  // receive_c1: a receiver has a name, of printable characters.
  if (getName().empty())
    return emitOpError("expected the name of a receiver, but got an empty string");
  if (!isPrintable(getName()))
    return emitOpError("expected a name of printable characters, but got ") << getNameAttr();
  // receive_c2: at least one operand.
  if (getInputs().empty())
    return emitOpError("expected at least one operand");
  return success();
}
