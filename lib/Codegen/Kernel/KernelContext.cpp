// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

KernelContext::KernelContext(KernelOp kernel, FunctionOpInterface function, int64_t vectorLanes)
    : kernel(kernel), function(function), builder(function.getContext()), loc(kernel.getLoc()),
      vectorLanes(vectorLanes) {}

Value KernelContext::indexConstant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getFunctionBody().front());
    known = arith::ConstantIndexOp::create(builder, loc, value);
  }
  return known;
}
