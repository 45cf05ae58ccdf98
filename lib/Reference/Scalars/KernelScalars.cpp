// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar operations that kernels of another compiler may hold and host programs do not.

#include "../Kernels.h"
#include "Arithmetic.h"
#include "ScalarValues.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static int32_t runFma(math::FmaOp op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  Tensor a = widen(frame[op.getA()]), b = widen(frame[op.getB()]), c = widen(frame[op.getC()]);
  Tensor result = withFloat(a.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(a, b, c, [](T x, T y, T z) { return std::fma(x, y, z); });
  });
  return frame.set(op.getResult(), convert(result, *elementTypeOf(op.getType())));
}

static int32_t runCopySign(math::CopySignOp op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  Tensor x = widen(frame[op.getLhs()]), sign = widen(frame[op.getRhs()]);
  Tensor result = withFloat(x.getType(), [&](auto tag) {
    using T = decltype(tag);
    // No NaN has a sign that targets agree about.
    return map<T>(x, sign, [](T a, T b) { return std::isnan(b) ? std::fabs(a) : std::copysign(a, b); });
  });
  return frame.set(op.getResult(), convert(result, *elementTypeOf(op.getType())));
}

static int32_t runAbsI(math::AbsIOp op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  return setInteger(frame, op.getResult(), integerOf(frame, op.getOperand()).abs()); // MIN stays MIN
}

void mlir::ad::reference::registerKernelScalars(Semantics &semantics) {
  semantics.add(runFma);
  semantics.add(runCopySign);
  semantics.add(runAbsI);
}
