// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionMemory.h"
#include "../../Kernel/KernelTypes.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using codegen::memoryType;

AttentionMemory::AttentionMemory(AttentionCode &code, KernelOp kernel) : code(code) {
  unsigned next = 0;
  DenseMap<Value, Tensor> bound;
  auto bind = [&](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Tensor &memory = bound[tensor];
    memory = {code.function.getArgument(next++), type.getElementType()};
    for (int64_t size : type.getShape())
      memory.sizes.push_back(ShapedType::isDynamic(size)
                                 ? arith::IndexCastOp::create(code.builder, code.loc,
                                                              code.builder.getI64Type(),
                                                              code.function.getArgument(next++))
                                       .getResult()
                                 : code.i64(size));
  };
  Block &body = kernel.getBody().front();
  llvm::for_each(body.getArguments(), bind);
  llvm::for_each(body.getTerminator()->getOperands(), bind);
  auto of = [&](Value tensor) { return tensor ? bound.lookup(tensor) : Tensor(); };
  auto bindOperands = [&](auto op) {
    query = of(op.getQuery());
    key = of(op.getKey());
    value = of(op.getValue());
    mask = of(op.getMask());
    logSum = of(op.getLogSum());
    std::pair<Value, const Tensor *> all[] = {
        {op.getKey(), &key}, {op.getValue(), &value}, {op.getQuery(), &query}};
    batch = sizeOf(all, 0);
    queries = query.sizes[2];
    keys = sizeOf(ArrayRef(all).drop_back(), 2);
  };
  if (auto op = dyn_cast<AttentionOp>(body.front())) {
    bindOperands(op);
    result = of(op.getResult());
    return;
  }
  auto op = cast<AttentionGradOp>(body.front());
  bindOperands(op);
  delta = of(op.getDelta());
  cotangent = of(op.getCotangent());
  queryGrad = of(op.getQueryGrad());
  keyGrad = of(op.getKeyGrad());
  valueGrad = of(op.getValueGrad());
}

// The host has compared them: one in a type is best.
Value AttentionMemory::sizeOf(ArrayRef<std::pair<Value, const Tensor *>> operands, int64_t axis) {
  for (auto [operand, tensor] : operands)
    if (!cast<RankedTensorType>(operand.getType()).isDynamicDim(axis))
      return tensor->sizes[axis];
  return operands.front().second->sizes[axis];
}

Value AttentionMemory::load(const Tensor &tensor, Value number) {
  Value bits = code.load(tensor.pointer, memoryType(tensor.element), number);
  if (bits.getType() == tensor.element)
    return bits;
  if (tensor.element.isInteger(1))
    return code.compare(arith::CmpIPredicate::ne, bits, code.number(bits, 0));
  return arith::BitcastOp::create(code.builder, code.loc, tensor.element, bits);
}

Value AttentionMemory::loadWide(const Tensor &tensor, Value number) {
  return convertScalar(code.builder, code.loc, load(tensor, number), code.accumulator);
}

void AttentionMemory::store(const Tensor &tensor, Value number, Value x) {
  Value narrow = convertScalar(code.builder, code.loc, x, tensor.element);
  Type memory = memoryType(tensor.element);
  if (memory != tensor.element)
    narrow = arith::BitcastOp::create(code.builder, code.loc, memory, narrow);
  code.store(tensor.pointer, number, narrow);
}
