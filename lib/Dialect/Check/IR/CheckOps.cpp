// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `check` dialect: registration and verifiers. Labels are those of docs/spec/check.md.

#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::ad::check;

#include "adjoint/Dialect/Check/IR/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "adjoint/Dialect/Check/IR/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/Check/IR/CheckOps.cpp.inc"
      >();
}

LogicalResult ExpectAlmostEqOp::verify() {
  const APFloat tolerance = getTolerance();
  if (tolerance.isFinite() && (!tolerance.isNegative() || tolerance.isZero())) // C1
    return success();
  return emitOpError("expected a finite tolerance of at least 0, but got ") << tolerance.convertToDouble();
}
