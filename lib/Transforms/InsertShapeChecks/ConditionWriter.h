// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes run-time conditions on sizes, with the index arithmetic that they need. Conditions that hold by the
// types are not written.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_CONDITIONWRITER_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_CONDITIONWRITER_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad {

/// What messages name instead of numbers that 64 bits cannot hold.
constexpr int64_t kMaxNumber = std::numeric_limits<int64_t>::max();

/// Writes the conditions of one operation before it.
class ConditionWriter {
public:
  explicit ConditionWriter(Operation *op) : builder(op), loc(op->getLoc()), op(op) {}

  /// Requires that two axes have one size.
  void same(Value a, int64_t axisA, Value b, int64_t axisB);
  void require(int32_t kind, Value condition, ValueRange values);

  static RankedTensorType type(Value value) { return cast<RankedTensorType>(value.getType()); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value size(Value tensor, int64_t axis) { return builder.createOrFold<tensor::DimOp>(loc, tensor, axis); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  }
  Value equal(Value a, Value b) { return compare(arith::CmpIPredicate::eq, a, b); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value subtract(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
  Value multiply(Value a, Value b) { return builder.createOrFold<arith::MulIOp>(loc, a, b); }
  Value divide(Value a, Value b) { return builder.createOrFold<arith::DivSIOp>(loc, a, b); }
  Value either(Value a, Value b) { return builder.createOrFold<arith::OrIOp>(loc, a, b); }
  Value both(Value a, Value b) { return builder.createOrFold<arith::AndIOp>(loc, a, b); }
  Value select(Value c, Value a, Value b) { return builder.createOrFold<arith::SelectOp>(loc, c, a, b); }

  /// The index that a failure names: the offset when it is negative, else the last element, or the largest
  /// number when that is too large.
  Value outside(Value offset, Value last, Value large);
  /// Whether a computed product of sizes, none of which is negative, did not wrap.
  Value isExactProduct(Value product, ArrayRef<Value> sizes);
  SmallVector<Value> resultSizes(RankedTensorType result, ValueRange dynamic);

  OpBuilder builder;
  const Location loc;

private:
  Operation *op;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_CONDITIONWRITER_H
