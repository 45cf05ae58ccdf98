// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

Position KernelContext::positionOfElement(Value number, ValueRange sizes) {
  Position position(sizes.size());
  for (int64_t axis = static_cast<int64_t>(sizes.size()) - 1; axis >= 0; --axis) {
    Value index = axis == 0 ? number : builder.createOrFold<arith::RemUIOp>(loc, number, sizes[axis]);
    position[axis] = {index, 0, nullptr};
    if (axis > 0)
      number = builder.createOrFold<arith::DivUIOp>(loc, number, sizes[axis]);
  }
  return position;
}

LogicalResult KernelContext::emitLoop(Value lower, Value upper, Value step,
                                      function_ref<LogicalResult(Value)> body) {
  std::optional<int64_t> from = constantOf(lower), to = constantOf(upper), by = constantOf(step);
  if (from && to && *from >= *to)
    return success();
  if (from && to && by && *from + *by >= *to)
    return body(lower);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  return body(loop.getInductionVar());
}

LogicalResult KernelContext::emitIf(Value condition, function_ref<LogicalResult()> then,
                                    function_ref<LogicalResult()> otherwise) {
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  auto emitInto = [&](Block *block, function_ref<LogicalResult()> code) {
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    return code();
  };
  if (failed(emitInto(branch.thenBlock(), then)))
    return failure();
  return otherwise ? emitInto(branch.elseBlock(), otherwise) : success();
}

// Short floats move as integers: on a CPU without them LLVM would convert a moved value to f32 and back.
Value KernelContext::movable(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  return type && type.getWidth() < 32 ? toMemory(value) : value;
}

static Type withElement(Type shaped, Type element) {
  if (auto vectorType = dyn_cast<VectorType>(shaped))
    return VectorType::get(vectorType.getShape(), element);
  return element;
}

Value KernelContext::fromMemory(Value value, Type element) {
  if (getElementTypeOrSelf(value) == element)
    return value;
  if (element.isInteger(1)) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
  }
  return arith::BitcastOp::create(builder, loc, withElement(value.getType(), element), value);
}

Value KernelContext::toMemory(Value value) {
  Type element = getElementTypeOrSelf(value), memory = memoryType(element);
  if (element == memory)
    return value;
  if (element.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, withElement(value.getType(), memory), value);
  return arith::BitcastOp::create(builder, loc, withElement(value.getType(), memory), value);
}

Key KernelContext::keyOf(Value tensor, const Position &position) {
  return {tensor.getAsOpaquePointer(),
          {std::vector<Index>(position.begin(), position.end()), {lanes, mask.getAsOpaquePointer()}}};
}
