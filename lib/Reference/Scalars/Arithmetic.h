// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic on single numbers with the edge semantics of the specification, and its application to whole
// tensors. C++ types represent the types in which operations compute: bool for i1, int8_t, int32_t, int64_t,
// float and double.

#ifndef ADJOINT_LIB_REFERENCE_SCALARS_ARITHMETIC_H
#define ADJOINT_LIB_REFERENCE_SCALARS_ARITHMETIC_H

#include "adjoint/Numerics/Elementary.h"
#include "adjoint/Reference/Tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mlir::ad::reference {

//===- Numbers ---------------------------------------------------------===//

/// Integers wrap: the sum is taken on unsigned numbers at least as wide as int, where nothing is undefined.
template <class T> using Wrapping = std::make_unsigned_t<std::common_type_t<T, int>>;

template <class T> T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}

template <class T> T subtract(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}

template <class T> T multiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

template <class T> T multiplyAdd(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else
    return add(multiply(a, b), c);
}

/// The places of a shift; negative ones are large numbers, too.
template <class T> uint64_t placesOf(T places) { return static_cast<uint64_t>(static_cast<int64_t>(places)); }

template <class T> T shiftLeft(T a, T places) {
  uint64_t n = placesOf(places);
  return n < 8 * sizeof(T) ? static_cast<T>(static_cast<uint64_t>(a) << n) : T(0);
}

/// Copies the sign.
template <class T> T shiftRight(T a, T places) {
  return static_cast<T>(static_cast<int64_t>(a) >> std::min<uint64_t>(placesOf(places), 63));
}

template <class T> T shiftRightLogical(T a, T places) {
  constexpr uint64_t bits = 8 * sizeof(T), all = ~uint64_t(0) >> (64 - bits);
  uint64_t n = placesOf(places);
  return n < bits ? static_cast<T>((static_cast<uint64_t>(a) & all) >> n) : T(0);
}

/// Truncates toward zero; x / 0 is 0 and MIN / -1 is MIN.
template <class T> T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a / b;
  else if (b == 0)
    return 0;
  else
    return b == T(-1) ? subtract(T(0), a) : static_cast<T>(a / b);
}

/// The remainder of the truncated quotient; x rem 0 is x and MIN rem -1 is 0.
template <class T> T remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(a, b);
  else if (b == 0)
    return a;
  else
    return b == T(-1) ? T(0) : static_cast<T>(a % b);
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

/// IEEE minimum: NaN propagates, -0 < +0.
template <class T> T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

//===- Tensors ---------------------------------------------------------===//

/// The type in which elementwise operations and products compute: f32 for 16- and 8-bit floats.
inline ElementType computeType(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return ElementType::F32;
  default:
    return type;
  }
}

/// The type in which sums accumulate: that of computing, and i32 for i8.
inline ElementType accumulatorType(ElementType type) {
  return type == ElementType::I8 ? ElementType::I32 : computeType(type);
}

template <class T> constexpr ElementType elementTypeFor() {
  if constexpr (std::is_same_v<T, bool>)
    return ElementType::I1;
  else if constexpr (std::is_same_v<T, int8_t>)
    return ElementType::I8;
  else if constexpr (std::is_same_v<T, int32_t>)
    return ElementType::I32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return ElementType::I64;
  else if constexpr (std::is_same_v<T, float>)
    return ElementType::F32;
  else
    return ElementType::F64;
}

/// Calls body(T()) for the C++ type of a compute type; the bodies of integers and floats are compiled only
/// where the verifiers let such tensors through.
template <class Body> auto withFloat(ElementType type, Body body) {
  return type == ElementType::F64 ? body(double()) : body(float());
}
template <class Body> auto withInteger(ElementType type, Body body) {
  switch (type) {
  case ElementType::I8:
    return body(int8_t());
  case ElementType::I32:
    return body(int32_t());
  default:
    return body(int64_t());
  }
}
using numerics::isFloat;
template <class Body> auto withNumber(ElementType type, Body body) {
  return isFloat(type) ? withFloat(type, body) : withInteger(type, body);
}
template <class Body> auto withLogical(ElementType type, Body body) {
  return type == ElementType::I1 ? body(bool()) : withInteger(type, body);
}
template <class Body> auto withAny(ElementType type, Body body) {
  return type == ElementType::I1 ? body(bool()) : withNumber(type, body);
}

/// f applied to each element, or to the elements at the same index of tensors of one shape. The element type
/// of the result is that of what f returns.
template <class T, class F> Tensor map(const Tensor &x, F f) {
  using R = decltype(f(T()));
  Tensor result(elementTypeFor<R>(), x.getShape());
  const T *a = x.data<T>();
  R *r = result.data<R>();
  for (int64_t i = 0, n = x.getNumElements(); i < n; ++i)
    r[i] = f(a[i]);
  return result;
}

template <class T, class F> Tensor map(const Tensor &x, const Tensor &y, F f) {
  using R = decltype(f(T(), T()));
  Tensor result(elementTypeFor<R>(), x.getShape());
  const T *a = x.data<T>(), *b = y.data<T>();
  R *r = result.data<R>();
  for (int64_t i = 0, n = x.getNumElements(); i < n; ++i)
    r[i] = f(a[i], b[i]);
  return result;
}

template <class T, class F> Tensor map(const Tensor &x, const Tensor &y, const Tensor &z, F f) {
  Tensor result(elementTypeFor<T>(), x.getShape());
  const T *a = x.data<T>(), *b = y.data<T>(), *c = z.data<T>();
  T *r = result.data<T>();
  for (int64_t i = 0, n = x.getNumElements(); i < n; ++i)
    r[i] = f(a[i], b[i], c[i]);
  return result;
}

/// Each element converted as ad.cast does.
Tensor convert(const Tensor &x, ElementType type);
/// In the type in which operations on it compute; exact.
inline Tensor widen(const Tensor &x) { return convert(x, computeType(x.getType())); }

/// An elementary function of each element of a tensor of f32 or f64, or of two tensors of one shape.
Tensor apply(numerics::Elementary function, const Tensor &x);
Tensor apply(numerics::Elementary function, const Tensor &x, const Tensor &y);

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_SCALARS_ARITHMETIC_H
