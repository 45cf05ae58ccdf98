// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions and elementary functions of whole tensors.

#include "Arithmetic.h"
#include "adjoint/Numerics/Casts.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

Tensor mlir::ad::reference::convert(const Tensor &x, ElementType type) {
  if (x.getType() == type)
    return x;
  Tensor result(type, x.getShape());
  int64_t from = sizeInBytes(x.getType()), to = sizeInBytes(type);
  const char *source = x.bytes();
  char *target = result.bytes();
  for (int64_t i = 0, n = x.getNumElements(); i < n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, source + i * from, from);
    bits = numerics::castScalar(x.getType(), type, bits);
    std::memcpy(target + i * to, &bits, to);
  }
  return result;
}

Tensor mlir::ad::reference::apply(numerics::Elementary function, const Tensor &x) {
  return withFloat(x.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(x, [&](T a) { return numerics::evaluate(function, a); });
  });
}

Tensor mlir::ad::reference::apply(numerics::Elementary function, const Tensor &x, const Tensor &y) {
  return withFloat(x.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(x, y, [&](T a, T b) { return numerics::evaluate(function, a, b); });
  });
}
