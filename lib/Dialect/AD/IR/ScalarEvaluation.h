// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar functions on C++ numbers: from the bits of elements to numbers and back, through lib/Numerics, and
// arithmetic with the edge cases of docs/spec.md.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_SCALAREVALUATION_H
#define ADJOINT_LIB_DIALECT_AD_IR_SCALAREVALUATION_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "llvm/ADT/bit.h"

#include <cmath>

namespace mlir::ad {
//===- Numbers -===//

/// Two's complement arithmetic on 64 bits, which wraps.
inline int64_t wrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrappingSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// x / 0 is 0; division by -1 negates, which wraps.
inline int64_t quotient(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? wrappingSubtract(0, a) : a / b;
}
inline int64_t remainder(int64_t a, int64_t b) {
  if (b == 0)
    return a;
  return b == -1 ? 0 : a % b;
}

/// IEEE maximum: NaN propagates, -0 < +0.
template <class T> T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <class T> T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return -maximum(-a, -b);
  else
    return a < b ? a : b;
}

/// A bitwise operation, which the verifier allows on integers only.
template <class T, class F> T onBits(ArrayRef<T> x, F f) {
  return static_cast<T>(f(static_cast<int64_t>(x[0]), static_cast<int64_t>(x[1])));
}

//===- Bits -===//

inline numerics::ElementType elementTypeOf(Value value) { return *numerics::elementTypeOf(value.getType()); }
inline uint64_t widthOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }

/// `f` on the operands as numbers: doubles of f64, floats of all other floats, int64_t of integers. The
/// result, of the operands' element type, is rounded once, or wraps.
template <class OpT, class F> ScalarEvaluator evaluateNumbers(OpT op, F f) {
  numerics::ElementType type = elementTypeOf(op->getOperand(0));
  if (type == numerics::ElementType::F64)
    return [f](ArrayRef<uint64_t> bits) {
      auto x = llvm::map_to_vector<3>(bits, [](uint64_t b) { return llvm::bit_cast<double>(b); });
      return llvm::bit_cast<uint64_t>(f(ArrayRef<double>(x)));
    };
  if (numerics::isFloat(type))
    return [f, type](ArrayRef<uint64_t> bits) {
      auto x = llvm::map_to_vector<3>(bits, [&](uint64_t b) { return numerics::toFloat(type, b); });
      return numerics::fromFloat(type, f(ArrayRef<float>(x)));
    };
  return [f, type](ArrayRef<uint64_t> bits) {
    auto x = llvm::map_to_vector<3>(bits, [&](uint64_t b) { return numerics::toInteger(type, b); });
    return numerics::fromInteger(type, f(ArrayRef<int64_t>(x)));
  };
}

/// `ad.compare` of two elements.
ScalarEvaluator evaluateComparison(numerics::ElementType type, ComparePredicate predicate);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_SCALAREVALUATION_H
