// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The element types of tensors, without MLIR. MLIRElementType.h converts them from and to mlir::Type.
#ifndef ADJOINT_NUMERICS_ELEMENTTYPE_H
#define ADJOINT_NUMERICS_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace mlir::ad::numerics {

/// Numbered like adrt_type.
enum class ElementType { F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I1, I8, I32, I64 };
inline constexpr int elementTypeCount = 10;

/// Size in memory: a boolean is one byte, 0 or 1.
inline int sizeInBytes(ElementType type) {
  constexpr int sizes[elementTypeCount] = {8, 4, 2, 2, 1, 1, 1, 1, 4, 8};
  return sizes[static_cast<int>(type)];
}

inline bool isFloat(ElementType type) { return type <= ElementType::F8E5M2; }

/// The spelling in MLIR, e.g. "f8E4M3FN".
inline std::string_view elementTypeName(ElementType type) {
  constexpr std::string_view names[elementTypeCount] = {"f64",    "f32", "f16", "bf16", "f8E4M3FN",
                                                        "f8E5M2", "i1",  "i8",  "i32",  "i64"};
  return names[static_cast<int>(type)];
}

inline std::optional<ElementType> elementTypeFromName(std::string_view name) {
  for (int i = 0; i < elementTypeCount; ++i)
    if (elementTypeName(static_cast<ElementType>(i)) == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_ELEMENTTYPE_H
