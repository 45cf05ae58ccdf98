// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `check` dialect: registration and verifiers. Labels are those of docs/spec/check.md.

#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::ad::check;

#include "adjoint/Dialect/Check/IR/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "adjoint/Dialect/Check/IR/CheckOps.cpp.inc"

namespace {
/// A check belongs to its function and moves with it.
struct CheckInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/Check/IR/CheckOps.cpp.inc"
      >();
  addInterfaces<CheckInlinerInterface>();
}

LogicalResult ExpectAlmostEqOp::verify() {
  const APFloat tolerance = getTolerance();
  if (tolerance.isFinite() && (!tolerance.isNegative() || tolerance.isZero())) // expect_almost_eq_c1
    return success();
  return emitOpError("expected a finite tolerance of at least 0, but got ") << tolerance.convertToDouble();
}
