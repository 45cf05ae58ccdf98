// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Element types as MLIR types.
#include "adjoint/Numerics/MLIRElementType.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::ad::numerics {

std::optional<ElementType> elementTypeOf(Type type) {
  type = getElementTypeOrSelf(type);
  for (int i = 0; i < elementTypeCount; ++i)
    if (toMLIRType(type.getContext(), static_cast<ElementType>(i)) == type)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

Type toMLIRType(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  default:
    return IntegerType::get(context, type == ElementType::I1 ? 1 : 8 * sizeInBytes(type));
  }
}

uint64_t contractBits(Type element, uint64_t bits) {
  auto number = dyn_cast<FloatType>(element);
  if (!number)
    return bits;
  const llvm::fltSemantics &semantics = number.getFloatSemantics();
  if (!llvm::APFloat(semantics, llvm::APInt(number.getWidth(), bits)).isNaN())
    return bits;
  return llvm::APFloat::getQNaN(semantics).bitcastToAPInt().getZExtValue();
}

} // namespace mlir::ad::numerics
