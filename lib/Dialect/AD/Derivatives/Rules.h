// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What derivative rules are written with. A rule is a function over its operation and a `Rule`, which builds
// ordinary `ad` operations and takes the cotangents of the operands; `attachRule` makes it a model of
// DifferentiableOpInterface.

#ifndef ADJOINT_LIB_DIALECT_AD_DERIVATIVES_RULES_H
#define ADJOINT_LIB_DIALECT_AD_DERIVATIVES_RULES_H

#include "adjoint/Dialect/AD/IR/ADBuilders.h"

namespace mlir::ad {
inline bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Short names for the operations that rules are made of. Numbers are rank-0 constants, which broadcast. On
/// scalars and vectors the same names build scalar code, so that one rule serves `ad.mul` and `arith.mulf`.
class RuleBuilder {
public:
  RuleBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  template <typename OpT> Value unary(Value x) {
    return isTensor(x) ? Value(OpT::create(builder, loc, x, PermissionsAttr()))
                       : onScalars(OpT::getOperationName(), x);
  }
  template <typename OpT> Value binary(Value x, Value y) {
    return isTensor(x) ? Value(OpT::create(builder, loc, x, y, PermissionsAttr()))
                       : onScalars(OpT::getOperationName(), {x, y});
  }
  Value neg(Value x) { return unary<NegOp>(x); }
  Value exp(Value x) { return unary<ExpOp>(x); }
  Value add(Value x, Value y) { return binary<AddOp>(x, y); }
  Value sub(Value x, Value y) { return binary<SubOp>(x, y); }
  Value mul(Value x, Value y) { return binary<MulOp>(x, y); }
  Value div(Value x, Value y) { return binary<DivOp>(x, y); }
  Value square(Value x) { return mul(x, x); }

  Value number(Value like, double value) {
    return isTensor(like) ? scalarConstant(builder, loc, getElementTypeOrSelf(like.getType()), value)
                          : fullLike(builder, loc, like, value);
  }
  Value add(Value x, double y) { return add(x, number(x, y)); }
  Value mul(Value x, double y) { return mul(x, number(x, y)); }
  Value sub(double x, Value y) { return sub(number(y, x), y); }
  Value clamp(Value x, double low, double high) {
    Value least = number(x, low), largest = number(x, high);
    return isTensor(x) ? Value(ClampOp::create(builder, loc, x, least, largest, PermissionsAttr()))
                       : onScalars(ClampOp::getOperationName(), {x, least, largest});
  }

  Value compare(ComparePredicate predicate, Value x, Value y);
  Value compare(ComparePredicate predicate, Value x, double y) { return compare(predicate, x, number(x, y)); }
  Value select(Value condition, Value x, Value y);
  /// `x` where the condition holds, else zero.
  Value onlyWhere(Value condition, Value x) { return select(condition, x, number(x, 0.0)); }

  Value cast(Value x, Type element) { return castTo(builder, loc, x, element); }
  /// The value in the type that its elements compute in.
  Value widen(Value x) { return cast(x, computeType(getElementTypeOrSelf(x.getType()))); }

  /// A number that depends on the range of the type: of f32, or of f64.
  double ofType(Value like, double f32, double f64) {
    return getElementTypeOrSelf(like.getType()).isF64() ? f64 : f32;
  }

  OpBuilder &builder;
  Location loc;

private:
  /// The operation of that name, one of `ad`, on scalars or vectors.
  Value onScalars(StringRef operation, ValueRange operands);
};

/// One application of a rule to an operation with one result.
class Rule : public RuleBuilder {
public:
  Rule(OpBuilder &builder, Operation *op, Value cotangent, ArrayRef<bool> wanted,
       MutableArrayRef<Value> given)
      : RuleBuilder(builder, op->getLoc()), cotangent(cotangent), op(op), wanted(wanted), given(given) {}

  bool wants(unsigned operand) const { return wanted[operand]; }

  /// The cotangent of an operand, of its shape at run time; the element type may still be wider, and a size
  /// may be known in the one and unknown in the other.
  void give(unsigned operand, Value value) {
    Value target = op->getOperand(operand);
    if (isTensor(target) && shapeOf(value) != shapeOf(target))
      value = reshapeLike(builder, loc, value, target);
    given[operand] = cast(value, getElementTypeOrSelf(target.getType()));
  }

  /// The cotangent of an operand that was perhaps broadcast, in the shape of the result. The sizes
  /// of the forward values decide whether it was: their origins are easier to trace.
  void giveSummed(unsigned operand, Value value) {
    Value target = op->getOperand(operand);
    if (!isTensor(target))
      return give(operand, value);
    bool sameShape = shapeOf(value) == shapeOf(target) && haveSameShape(op->getResult(0), target);
    give(operand, sameShape ? value : sumToShapeOf(builder, loc, value, target));
  }

  Value cotangent;

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return mlir::cast<RankedTensorType>(value.getType()).getShape();
  }

  Operation *op;
  ArrayRef<bool> wanted;
  MutableArrayRef<Value> given;
};

/// The model of an operation with one result: the function builds the wanted cotangents.
template <typename OpT, LogicalResult (*function)(OpT, Rule &)>
struct RuleModel : DifferentiableOpInterface::ExternalModel<RuleModel<OpT, function>, OpT> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    SmallVector<Value> given(op->getNumOperands());
    if (Value cotangent = cotangents[0]) {
      Rule rule(builder, op, cotangent, wanted, given);
      if (failed(function(cast<OpT>(op), rule)))
        return failure();
    }
    operandCotangents.append(given.begin(), given.end());
    return success();
  }
};

/// The model of a cast between floats: the cotangent is cast back. An integer on either side carries none.
template <typename OpT> struct CastModel : DifferentiableOpInterface::ExternalModel<CastModel<OpT>, OpT> {
  bool isDifferentiable(Operation *op, unsigned) const {
    return isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType())) &&
           isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  }
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    Value given;
    if (cotangents[0] && wanted[0])
      given = castTo(builder, op->getLoc(), cotangents[0], getElementTypeOrSelf(op->getOperand(0).getType()));
    operandCotangents.push_back(given);
    return success();
  }
};

/// The model of an operation whose derivative is zero wherever it exists.
template <typename OpT> struct ZeroModel : DifferentiableOpInterface::ExternalModel<ZeroModel<OpT>, OpT> {
  bool isDifferentiable(Operation *, unsigned) const { return false; }
  LogicalResult vjp(Operation *op, OpBuilder &, ValueRange, ArrayRef<bool>,
                    SmallVectorImpl<Value> &operandCotangents) const {
    operandCotangents.append(op->getNumOperands(), Value());
    return success();
  }
};

template <typename OpT, LogicalResult (*function)(OpT, Rule &)> void attachRule(MLIRContext *context) {
  OpT::template attachInterface<RuleModel<OpT, function>>(*context);
}
template <typename... Ops> void attachCastRules(MLIRContext *context) {
  (Ops::template attachInterface<CastModel<Ops>>(*context), ...);
}
template <typename... Ops> void attachZeroRules(MLIRContext *context) {
  (Ops::template attachInterface<ZeroModel<Ops>>(*context), ...);
}

/// The rule of a unary function that `ad.elementary` names.
LogicalResult unaryElementaryRule(ElementaryOp op, Rule &rule);

// One function per family; Derivatives.cpp calls them when the dialect is loaded.
void attachUnaryRules(MLIRContext *context);
void attachBinaryRules(MLIRContext *context);
void attachShapeRules(MLIRContext *context);
void attachSliceRules(MLIRContext *context);
void attachIndexingRules(MLIRContext *context);
void attachSortingRules(MLIRContext *context);
void attachWindowRules(MLIRContext *context);
void attachContractionRules(MLIRContext *context);
void attachReductionRules(MLIRContext *context);
void attachRunningRules(MLIRContext *context);
void attachLayerRules(MLIRContext *context);
void attachNNRules(MLIRContext *context);
void attachAttentionRules(MLIRContext *context);
void attachControlRules(MLIRContext *context);
void attachScalarRules(MLIRContext *context);
// Those of other dialects are attached when their dialect is loaded.
void attachArithUnaryRules(MLIRContext *context);
void attachArithBinaryRules(MLIRContext *context);
void attachMathUnaryRules(MLIRContext *context);
void attachMathBinaryRules(MLIRContext *context);
void attachExtractRules(MLIRContext *context);
void attachTensorRules(MLIRContext *context);
void registerForeignRules(DialectRegistry &registry);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_DERIVATIVES_RULES_H
