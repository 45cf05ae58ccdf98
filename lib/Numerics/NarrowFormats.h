// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The formats of the 16- and 8-bit floats, by element type.
#ifndef ADJOINT_LIB_NUMERICS_NARROWFORMATS_H
#define ADJOINT_LIB_NUMERICS_NARROWFORMATS_H

#include "Math/Conversion.h"
#include "adjoint/Numerics/ElementType.h"

namespace mlir::ad::numerics {

inline bool isNarrowFloat(ElementType type) { return isFloat(type) && sizeInBytes(type) < 4; }

inline NarrowFormat narrowFormat(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return {16, 10, 15, 0x7bff, 0x7c00, 0x7e00, 0x7c00};
  case ElementType::BF16:
    return {16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x7f80};
  case ElementType::F8E4M3FN: // no infinity: every code but 0x7f is finite
    return {8, 3, 7, 0x7e, 0x7e, 0x7f, 0x7e};
  default: // F8E5M2
    return {8, 2, 15, 0x7b, 0x7c, 0x7e, 0x7b};
  }
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_NARROWFORMATS_H
