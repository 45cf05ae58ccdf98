// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations that order elements: cotangents go back to where the elements came from.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"

using namespace mlir;
using namespace mlir::ad;

/// The cotangent of `operand`, whose elements at the positions were read.
static Value scattered(OpBuilder &builder, Location loc, Value operand, Value positions, Value cotangent,
                       int64_t axis) {
  Value zeros = zerosLike(builder, loc, operand, getElementTypeOrSelf(cotangent.getType()));
  Value given = setAlong(builder, loc, zeros, positions, cotangent, axis);
  return castTo(builder, loc, given, getElementTypeOrSelf(operand.getType()));
}

namespace {
struct SortModel : DifferentiableOpInterface::ExternalModel<SortModel, SortOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    auto sort = cast<SortOp>(op);
    Value positions;
    for (auto [input, cotangent, isWanted] : llvm::zip_equal(sort.getInputs(), cotangents, wanted)) {
      operandCotangents.emplace_back();
      if (!cotangent || !isWanted)
        continue;
      if (!positions)
        positions = ArgsortOp::create(builder, op->getLoc(), sort.getInputs().front(), sort.getAxis(),
                                      sort.getDescending(), PermissionsAttr());
      operandCotangents.back() =
          scattered(builder, op->getLoc(), input, positions, cotangent, sort.getAxis());
    }
    return success();
  }
};

struct TopKModel : DifferentiableOpInterface::ExternalModel<TopKModel, TopKOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    auto top = cast<TopKOp>(op);
    operandCotangents.emplace_back();
    if (cotangents[0] && wanted[0])
      operandCotangents.back() =
          scattered(builder, op->getLoc(), top.getInput(), top.getPositions(), cotangents[0], top.getAxis());
    return success();
  }
};
} // namespace

void ad::attachSortingRules(MLIRContext *context) {
  attachZeroRules<ArgsortOp>(context);
  SortOp::attachInterface<SortModel>(*context);
  TopKOp::attachInterface<TopKModel>(*context);
}
