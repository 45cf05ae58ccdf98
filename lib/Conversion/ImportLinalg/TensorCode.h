// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Short names for the operations of `ad` that imported code becomes. Operands broadcast like NumPy arrays,
// and numbers are constants of rank 0.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_TENSORCODE_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_TENSORCODE_H

#include "adjoint/Dialect/AD/IR/ADBuilders.h"

namespace mlir::ad {
/// The element type of the tensor that stands for scalars of `type`: i64 for an index, else the type itself.
/// Null if no tensor of `ad` has such elements.
Type importedElement(Type type);

/// Whether values of the type can be imported: scalars, and ranked tensors without encoding, of such
/// elements.
bool isImported(Type type);

/// "f64, f32, … or an index": what scalars may be.
extern const char *const kImportedElements;

/// The type of a tensor of these sizes, dynamic where one is not constant.
RankedTensorType typeOfSizes(ArrayRef<OpFoldResult> sizes, Type element);

class TensorCode {
public:
  TensorCode(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  template <typename OpT> Value unary(Value x) { return OpT::create(builder, loc, x, PermissionsAttr()); }
  template <typename OpT> Value binary(Value x, Value y) {
    return OpT::create(builder, loc, x, y, PermissionsAttr());
  }
  Value add(Value x, Value y) { return binary<AddOp>(x, y); }
  Value sub(Value x, Value y) { return binary<SubOp>(x, y); }
  Value mul(Value x, Value y) { return binary<MulOp>(x, y); }
  Value div(Value x, Value y) { return binary<DivOp>(x, y); }
  Value bitAnd(Value x, Value y) { return binary<AndOp>(x, y); }
  Value bitOr(Value x, Value y) { return binary<OrOp>(x, y); }
  Value bitXor(Value x, Value y) { return binary<XorOp>(x, y); }
  Value bitNot(Value x) { return unary<NotOp>(x); }
  Value neg(Value x) { return unary<NegOp>(x); }
  Value abs(Value x) { return unary<AbsOp>(x); }
  Value compare(ComparePredicate predicate, Value x, Value y) {
    return CompareOp::create(builder, loc, predicate, x, y, PermissionsAttr());
  }
  Value select(Value condition, Value x, Value y) {
    return SelectOp::create(builder, loc, condition, x, y, PermissionsAttr());
  }
  Value cast(Value x, Type element) { return castTo(builder, loc, x, element); }
  Value bitcast(Value x, Type element) {
    return BitcastOp::create(builder, loc, typeOf(x).clone(element), x, PermissionsAttr());
  }

  /// A number of the elements' type of `like`. Integers are written as such, since a double does not hold
  /// every i64.
  Value number(Value like, double value) { return scalarConstant(builder, loc, elementOf(like), value); }
  Value integer(Value like, int64_t value) { return integerConstant(builder, loc, elementOf(like), value); }
  bool isFloat(Value x) { return isa<FloatType>(elementOf(x)); }
  Value isNaN(Value x) { return compare(ComparePredicate::ne, x, x); }
  Value isNegative(Value x) {
    return compare(ComparePredicate::lt, x, isFloat(x) ? number(x, 0.0) : integer(x, 0));
  }

  /// The tensor of `element` and rank 0 that holds a scalar of the host program, an index as i64.
  Value ofScalar(Value scalar);
  Value ofConstant(TypedAttr constant);
  /// The scalar that a tensor of rank 0 holds, of `type`: an index for elements of i64.
  Value toScalar(Value tensor, Type type);

  /// The index values among `sizes` where `shape` is dynamic.
  SmallVector<Value> dynamicAmong(ArrayRef<OpFoldResult> sizes);
  Value reshape(Value x, ArrayRef<OpFoldResult> sizes);
  Value broadcast(Value x, ArrayRef<OpFoldResult> sizes);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  /// 0, 1, … along the axis, as i64.
  Value iota(ArrayRef<OpFoldResult> sizes, int64_t axis);
  /// `value`, a scalar of the host program, everywhere.
  Value full(Value value, RankedTensorType type, ArrayRef<OpFoldResult> sizes);
  /// The same tensor where `type` knows other sizes statically.
  Value withType(Value x, RankedTensorType type);
  SmallVector<OpFoldResult> sizes(Value tensor);
  Value index(OpFoldResult size);
  SmallVector<Value> indices(ArrayRef<OpFoldResult> numbers);

  static RankedTensorType typeOf(Value x) { return mlir::cast<RankedTensorType>(x.getType()); }
  static Type elementOf(Value x) { return typeOf(x).getElementType(); }

  OpBuilder &builder;
  Location loc;
};
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_TENSORCODE_H
