// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rules of operations that read a part of their first operand. A rule is one function, which adds the
// cotangent of the part to a sum.

#ifndef ADJOINT_LIB_DIALECT_AD_DERIVATIVES_PARTIALREADS_H
#define ADJOINT_LIB_DIALECT_AD_DERIVATIVES_PARTIALREADS_H

#include "Rules.h"
#include "adjoint/Interfaces/PartialReadOpInterface.h"

namespace mlir::ad {
/// The models of an operation that reads a part of its first operand. The function adds the cotangent of the
/// result to a sum, or to zeros where the sum is null.
template <typename OpT, Value (*addPart)(OpT, RuleBuilder &, Value cotangent, Value sum)>
struct WholeModel : DifferentiableOpInterface::ExternalModel<WholeModel<OpT, addPart>, OpT> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    operandCotangents.append(op->getNumOperands(), Value());
    RuleBuilder rule(builder, op->getLoc());
    if (cotangents[0] && wanted[0])
      operandCotangents[0] = addPart(cast<OpT>(op), rule, cotangents[0], Value());
    return success();
  }
};

template <typename OpT, Value (*addPart)(OpT, RuleBuilder &, Value cotangent, Value sum), bool (*isPart)(OpT)>
struct PartModel : PartialReadOpInterface::ExternalModel<PartModel<OpT, addPart, isPart>, OpT> {
  bool readsPart(Operation *op, unsigned operand) const { return operand == 0 && isPart(cast<OpT>(op)); }
  Value accumulate(Operation *op, OpBuilder &builder, ValueRange cotangents, unsigned, Value sum) const {
    RuleBuilder rule(builder, op->getLoc());
    return addPart(cast<OpT>(op), rule, cotangents[0], sum);
  }
};

template <typename OpT, Value (*addPart)(OpT, RuleBuilder &, Value, Value), bool (*isPart)(OpT)>
void attachPartialReads(MLIRContext *context) {
  OpT::template attachInterface<WholeModel<OpT, addPart>, PartModel<OpT, addPart, isPart>>(*context);
}
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_DERIVATIVES_PARTIALREADS_H
