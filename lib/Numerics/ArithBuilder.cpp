// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The members of ArithEmitter and ArithBuilder that do not depend on the element type.
#include "adjoint/Numerics/Math/ArithBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ad::numerics {

Value ArithBuilder::emitFma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }

Value ArithBuilder::emitSqrt(Value x) { return math::SqrtOp::create(builder, loc, x); }

llvm::SmallVector<Value> ArithBuilder::emitBranch(Value condition, ValueRange usual,
                                                  llvm::function_ref<llvm::SmallVector<Value>()> slow) {
  Value any = condition;
  if (vector)
    any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, condition);
  auto branch = scf::IfOp::create(builder, loc, usual.getTypes(), any, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  // A constant that is emitted in the branch cannot be used after it.
  llvm::DenseMap<Attribute, Value> outside = constants;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  llvm::SmallVector<Value> replaced;
  for (auto [exact, value] : llvm::zip_equal(slow(), usual))
    replaced.push_back(arith::SelectOp::create(builder, loc, condition, exact, value));
  scf::YieldOp::create(builder, loc, replaced);
  constants = std::move(outside);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, usual);
  return llvm::to_vector(
      llvm::map_range(branch.getResults(), [](OpResult result) -> Value { return result; }));
}

Value ArithEmitter::emitConstant(TypedAttr attribute) {
  Value &known = constants[attribute];
  if (!known) {
    TypedAttr shapedAttribute = attribute;
    if (vector)
      shapedAttribute =
          DenseElementsAttr::get(VectorType::get(vector.getShape(), attribute.getType()), attribute);
    known = arith::ConstantOp::create(builder, loc, shapedAttribute);
  }
  return known;
}

} // namespace mlir::ad::numerics
