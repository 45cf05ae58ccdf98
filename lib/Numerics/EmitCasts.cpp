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
              CastInstructions instructions)
      : builder(builder), b(builder, loc, value.getType()), value(value), from(from), to(to),
        instructions(instructions) {}

  Value run() {
    return isFloat(from) ? fromFloating() : isFloat(to) ? integerToFloating() : integerToInteger();
  }

private:
  Type element(ElementType type) { return toMLIRType(builder.getContext(), type); }

  Value fromFloating() {
    if (from == ElementType::F64)
      return fromComputed(b.wrap<double>(value));
    if (from == ElementType::F8E5M2 && to == ElementType::F16 && instructions.bytesByHalf)
      return half(code() << 8);
    return fromComputed(isNarrowFloat(from) ? widened() : b.wrap<float>(value));
  }

  Emitted<uint32_t> code() {
    Value bits = b.convertTo<arith::BitcastOp>(value, builder.getIntegerType(8 * sizeInBytes(from)));
    return b.wrap<uint32_t>(b.convertTo<arith::ExtUIOp>(bits, builder.getI32Type()));
  }

  Emitted<float> widened() {
    if (from == ElementType::F16 && instructions.half)
      return widenHalf(value);
    bool isByte = sizeInBytes(from) == 1;
    return isByte && instructions.bytesByHalf ? widenByte() : widenFloat(b, code(), narrowFormat(from));
  }

  Emitted<float> widenHalf(Value x) {
    return b.wrap<float>(b.convertTo<arith::ExtFOp>(x, builder.getF32Type()));
  }

  Emitted<float> widenByte() {
    if (from == ElementType::F8E5M2)
      return widenHalf(half(code() << 8));
    // The exponents of E4M3 are 8 less than those of f16.
    Emitted<uint32_t> all = code(), magnitude = all & 0x7fu;
    Emitted<float> x = widenHalf(half(((all & 0x80u) << 8) | (magnitude << 7))) * 256.0f;
    return b.select(magnitude == 0x7fu, b.fromBits(b.constant(0x7fc00000u)), x);
  }

  Value half(Emitted<uint32_t> bits) {
    Value word = b.convertTo<arith::TruncIOp>(bits.value, builder.getI16Type());
    return b.convertTo<arith::BitcastOp>(word, builder.getF16Type());
  }

  /// From f32 or f64, with one rounding or truncation.
  template <class T> Value fromComputed(Emitted<T> x) {
    constexpr bool wide = std::is_same_v<T, double>;
    // A conversion of an f64 through f32 would round twice.
    if (!wide && isInstruction())
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

  /// Whether one instruction rounds an f32.
  bool isInstruction() const {
    return (to == ElementType::F16 && instructions.half) || (to == ElementType::BF16 && instructions.bfloat);
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
  CastInstructions instructions;
};

} // namespace

Value emitCast(OpBuilder &builder, Location loc, Value value, Type element, CastInstructions instructions) {
  std::optional<ElementType> from = elementTypeOf(value.getType()), to = elementTypeOf(element);
  assert(from && to && "expected element types that tensors have");
  if (*from == *to)
    return value;
  return CastEmitter(builder, loc, value, *from, *to, instructions).run();
}

} // namespace mlir::ad::numerics
