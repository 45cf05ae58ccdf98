// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Short names for the operations that the decompositions of named kernels consist of.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_OPS_STEPBUILDER_H
#define ADJOINT_LIB_DIALECT_AD_IR_OPS_STEPBUILDER_H

#include "../ShapeUtils.h"

namespace mlir::ad {

class StepBuilder {
public:
  StepBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  template <typename OpT> Value unary(Value x) { return OpT::create(builder, loc, x, PermissionsAttr()); }
  /// The operands broadcast.
  template <typename OpT> Value binary(Value x, Value y) {
    return OpT::create(builder, loc, x, y, PermissionsAttr());
  }
  Value compare(ComparePredicate predicate, Value x, Value y) {
    return CompareOp::create(builder, loc, predicate, x, y, PermissionsAttr());
  }
  Value select(Value condition, Value x, Value y) {
    return SelectOp::create(builder, loc, condition, x, y, PermissionsAttr());
  }
  Value cast(Value x, Type type) { return castTo(builder, loc, x, type); }
  Value transposed(Value x, ArrayRef<int64_t> order) {
    return TransposeOp::create(builder, loc, x, order, PermissionsAttr());
  }

  OpFoldResult attr(int64_t size) { return builder.getIndexAttr(size); }
  Value index(OpFoldResult size) { return getValueOrCreateConstantIndexOp(builder, loc, size); }
  SmallVector<OpFoldResult> sizesOf(Value x);
  /// The type of a tensor with these sizes, and the sizes that are values.
  std::pair<RankedTensorType, SmallVector<Value>> shaped(Type element, ArrayRef<OpFoldResult> sizes);
  Value reshaped(Value x, ArrayRef<OpFoldResult> sizes);
  /// Broadcast to the sizes.
  Value repeated(Value x, ArrayRef<OpFoldResult> sizes);
  Value full(double value, Type element, ArrayRef<OpFoldResult> sizes) {
    return repeated(scalarConstant(builder, loc, element, value), sizes);
  }
  /// The index of each element along the axis.
  Value numbers(Type element, ArrayRef<OpFoldResult> sizes, int64_t axis);

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_OPS_STEPBUILDER_H
