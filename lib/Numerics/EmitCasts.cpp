// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Instantiates the conversions with ArithBuilder.
#include "adjoint/Numerics/EmitCasts.h"
#include "NarrowFormats.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "adjoint/Numerics/Math/ArithBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::ad::numerics {
namespace {

/// One conversion of one value.
class CastEmitter {
public:
  CastEmitter(OpBuilder &builder, Location loc, Value value, ElementType from, ElementType to,
              bool halfInstructions)
      : builder(builder), b(builder, loc, value.getType()), value(value), from(from), to(to),
        halfInstructions(halfInstructions) {}

  Value run() {
    return isFloat(from) ? fromFloating() : isFloat(to) ? integerToFloating() : integerToInteger();
  }

private:
  Type element(ElementType type) { return toMLIRType(builder.getContext(), type); }

  Value fromFloating() {
    if (from == ElementType::F64)
      return fromComputed(b.wrap<double>(value));
    Emitted<float> x = b.wrap<float>(value);
    if (from == ElementType::F16 && halfInstructions) {
      x = b.wrap<float>(b.convertTo<arith::ExtFOp>(value, builder.getF32Type()));
    } else if (isNarrowFloat(from)) {
      Value code = b.convertTo<arith::BitcastOp>(value, builder.getIntegerType(8 * sizeInBytes(from)));
      x = widenFloat(b, b.wrap<uint32_t>(b.convertTo<arith::ExtUIOp>(code, builder.getI32Type())),
                     narrowFormat(from));
    }
    return fromComputed(x);
  }

  /// From f32 or f64, with one rounding or truncation.
  template <class T> Value fromComputed(Emitted<T> x) {
    constexpr bool wide = std::is_same_v<T, double>;
    // CPUs have no such instruction for f64, and a conversion through f32 would round twice.
    if (to == ElementType::F16 && halfInstructions && !wide)
      return b.convertTo<arith::TruncFOp>(x.value, element(to));
    if (isNarrowFloat(to))
      return narrowed(narrowFloat<T>(b, x, narrowFormat(to)));
    switch (to) {
    case ElementType::F64:
      return wide ? x.value : b.convertTo<arith::ExtFOp>(x.value, element(to));
    case ElementType::F32:
      return wide ? b.convertTo<arith::TruncFOp>(x.value, element(to)) : x.value;
    case ElementType::I1:
      return (x != T(0)).value;
    case ElementType::I64:
      return floatToInteger<uint64_t, T>(b, x, 64).value;
    case ElementType::I32:
      return floatToInteger<uint32_t, T>(b, x, 32).value;
    default:
      return b.convertTo<arith::TruncIOp>(floatToInteger<uint32_t, T>(b, x, 8).value, element(to));
    }
  }

  Value narrowed(Emitted<uint32_t> code) {
    Value bits = b.convertTo<arith::TruncIOp>(code.value, builder.getIntegerType(8 * sizeInBytes(to)));
    return b.convertTo<arith::BitcastOp>(bits, element(to));
  }

  Value integerToFloating() {
    if (!isNarrowFloat(to))
      return from == ElementType::I1 ? b.convertTo<arith::UIToFPOp>(value, element(to))
                                     : b.convertTo<arith::SIToFPOp>(value, element(to));
    if (from == ElementType::I64)
      return fromComputed(integerToDoubleOdd(b, b.wrap<uint64_t>(value)));
    if (from == ElementType::I32)
      return fromComputed(b.signedToDouble(b.wrap<uint32_t>(value)));
    Value exact = from == ElementType::I1 ? b.convertTo<arith::UIToFPOp>(value, builder.getF32Type())
                                          : b.convertTo<arith::SIToFPOp>(value, builder.getF32Type());
    return fromComputed(b.wrap<float>(exact));
  }

  Value integerToInteger() {
    if (to == ElementType::I1)
      return nonZero();
    if (from == ElementType::I1)
      return b.convertTo<arith::ExtUIOp>(value, element(to));
    return sizeInBytes(to) > sizeInBytes(from) ? b.convertTo<arith::ExtSIOp>(value, element(to))
                                               : b.convertTo<arith::TruncIOp>(value, element(to));
  }

  Value nonZero() {
    Type type = value.getType();
    Value zero = arith::ConstantOp::create(builder, value.getLoc(), builder.getZeroAttr(type));
    return b.compare(arith::CmpIPredicate::ne, value, zero).value;
  }

  OpBuilder &builder;
  ArithBuilder b;
  Value value;
  ElementType from, to;
  bool halfInstructions;
};

} // namespace

Value emitCast(OpBuilder &builder, Location loc, Value value, Type element, bool halfInstructions) {
  std::optional<ElementType> from = elementTypeOf(value.getType()), to = elementTypeOf(element);
  assert(from && to && "expected element types that tensors have");
  if (*from == *to)
    return value;
  return CastEmitter(builder, loc, value, *from, *to, halfInstructions).run();
}

} // namespace mlir::ad::numerics
