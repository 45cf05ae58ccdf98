// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The steps of which decompositions and named kernels consist.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_DECOMPOSITIONSTEPS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_DECOMPOSITIONSTEPS_H

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace mlir::ad {
/// Builds the steps of one decomposition: everything in the type that the operation computes in, sums in its
/// order.
class Steps {
public:
  Steps(OpBuilder &builder, Operation *op)
      : builder(builder), loc(rememberWritten(op)), name(writtenName(op)) {
    if (auto numerics = dyn_cast<NumericsOpInterface>(op))
      order = numerics.getSummationOrder();
  }

  static int64_t lastAxis(Value value) { return cast<RankedTensorType>(value.getType()).getRank() - 1; }

  Value computing(Value value) {
    return castTo(builder, loc, value, computeType(cast<RankedTensorType>(value.getType()).getElementType()));
  }

  template <typename Op> Value unary(Value x) {
    return Op::create(builder, loc, x.getType(), x, PermissionsAttr());
  }

  // `y` gets the shape of `x`.
  template <typename Op> Value binary(Value x, Value y) {
    return Op::create(builder, loc, x.getType(), x, broadcastLike(builder, loc, y, x), PermissionsAttr());
  }

  template <typename Op> Value reduce(Value x, int64_t axis, bool keepDims) {
    auto reduced = Op::create(builder, loc, x, ArrayRef<int64_t>{axis}, keepDims);
    if (order)
      reduced.setSummationOrder(order);
    return reduced;
  }

  Value addConstant(Value x, const APFloat &value) {
    return AddOp::create(builder, loc, x.getType(), x, fullLike(builder, loc, x, value.convertToDouble()),
                         PermissionsAttr());
  }

  // Parameters and labels do not broadcast: a dynamic size is that of `x`.
  void requireSize(Value x, int64_t axis, Value other, int64_t otherAxis) {
    if (haveSameSize(x, axis, other, otherAxis))
      return;
    auto value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(builder, loc, size); };
    Value expected = value(sizeOf(builder, loc, x, axis));
    Value actual = value(sizeOf(builder, loc, other, otherAxis));
    Value agree = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, expected, actual);
    Value axisValue = value(builder.getIndexAttr(otherAxis));
    RequireOp::create(builder, loc, ADRT_FAIL_SAME_SIZE, agree, ValueRange{axisValue, expected, actual},
                      name);
  }

  // Requires that the axes of `other` have the sizes of as many of `x`, from axis `first` on. Returns `other`
  // reshaped to these, so that later passes know it, too.
  Value requireShape(Value x, int64_t first, Value other) {
    auto type = cast<RankedTensorType>(other.getType());
    bool isKnown = true;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      isKnown &= haveSameSize(x, first + axis, other, axis);
      requireSize(x, first + axis, other, axis);
    }
    ArrayRef<int64_t> shape = cast<RankedTensorType>(x.getType()).getShape().slice(first, type.getRank());
    if (isKnown && shape == type.getShape())
      return other;
    SmallVector<Value> sizes;
    for (auto [axis, size] : llvm::enumerate(shape))
      if (ShapedType::isDynamic(size))
        sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, x, first + axis)));
    return ReshapeOp::create(builder, loc, type.clone(shape), other, sizes, PermissionsAttr());
  }

  // A parameter, in the computing type: it does not broadcast, and has the size of the last axis of `x`.
  Value parameter(Value x, Value value) { return computing(requireShape(x, lastAxis(x), value)); }

  // The result in the operation's own type; a size that one type knows and the other does not is checked at
  // run time.
  Value finish(Value x, Type type) {
    auto target = cast<RankedTensorType>(type);
    x = castTo(builder, loc, x, target.getElementType());
    if (x.getType() == type)
      return x;
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < target.getRank(); ++dim)
      if (target.isDynamicDim(dim))
        sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, x, dim)));
    return BroadcastOp::create(builder, loc, type, x, sizes, PermissionsAttr());
  }

  OpBuilder &builder;
  Location loc;
  StringRef name;
  OrderAttr order;
};
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_DECOMPOSITIONSTEPS_H
