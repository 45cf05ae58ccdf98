// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar operations that kernels of another compiler may hold and host programs do not.

#include "Arithmetic.h"
#include "Kernels.h"
#include "ScalarValues.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

/// The element type of the result of an operation on scalars; none after a diagnostic.
static std::optional<ElementType> scalarResult(Operation *op, Frame &frame) {
  std::optional<ElementType> type = elementTypeOf(op->getResult(0).getType());
  if (type && llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>))
    return type;
  frame.refuse(op, "runs in the reference interpreter on scalars of known types only");
  return std::nullopt;
}

static int32_t runFma(math::FmaOp op, Frame &frame) {
  std::optional<ElementType> type = scalarResult(op, frame);
  if (!type)
    return ADRT_PROGRAM_ERROR;
  Tensor a = widen(frame[op.getA()]), b = widen(frame[op.getB()]), c = widen(frame[op.getC()]);
  Tensor result = withFloat(a.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(a, b, c, [](T x, T y, T z) { return std::fma(x, y, z); });
  });
  return frame.set(op.getResult(), convert(result, *type));
}

static int32_t runCopySign(math::CopySignOp op, Frame &frame) {
  std::optional<ElementType> type = scalarResult(op, frame);
  if (!type)
    return ADRT_PROGRAM_ERROR;
  Tensor x = widen(frame[op.getLhs()]), sign = widen(frame[op.getRhs()]);
  Tensor result = withFloat(x.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(x, sign, [](T a, T b) { return std::copysign(a, b); });
  });
  return frame.set(op.getResult(), convert(result, *type));
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
