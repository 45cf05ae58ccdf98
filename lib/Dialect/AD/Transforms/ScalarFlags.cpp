// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/Transforms/ScalarFlags.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

void ad::dropScalarFlags(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return;
  MLIRContext *context = op->getContext();
  // Upstream's conversion of these to the LLVM dialect keeps the attribute, under its name in arith.
  if (auto widen = dyn_cast<arith::ExtFOp>(op))
    widen.removeFastmathAttr();
  else if (auto narrow = dyn_cast<arith::TruncFOp>(op))
    narrow.removeFastmathAttr();
  else if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(flags.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(context, arith::FastMathFlags::none));
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(flags.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(context, arith::IntegerOverflowFlags::none));
  llvm::TypeSwitch<Operation *>(op).Case<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(
      [](auto exact) { exact.setIsExact(false); });
}
