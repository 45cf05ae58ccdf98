// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments and results of an entry.

#include "EntryInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

Value EntryInterface::argumentOnDevice(int32_t number) {
  Value described = entry.argument(number);
  Value memory = call("adrt_argument", pointerType, {context, described, i32(number)});
  entry.guardMemory(memory, loc);
  return memory;
}

HostTensor EntryInterface::argumentTensor(int32_t number) {
  auto type = cast<RankedTensorType>(entry.source.getArgument(number).getType());
  auto field = [&](int32_t index) -> Value {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, entry.tensorType, entry.function.getArgument(1),
                                        ArrayRef<LLVM::GEPArg>{number, index});
    return LLVM::LoadOp::create(builder, loc, pointerType, address);
  };
  HostTensor tensor{options.device ? argumentOnDevice(number) : field(0), {}, type, -1};
  Value shape;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      tensor.sizes.push_back(indexConstant(size));
      continue;
    }
    if (!shape)
      shape = field(1);
    Value address = entry.elementAddress(builder.getI64Type(), shape, axis);
    Value value = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), address);
    tensor.sizes.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value));
  }
  return tensor;
}

void EntryInterface::bindArguments() {
  SmallVector<int64_t> bufferOf(entry.source.getNumArguments(), -1);
  for (auto [buffer, planned] : llvm::enumerate(buffers.plan.buffers()))
    if (planned.home == Home::argument)
      bufferOf[planned.number] = buffer;
  for (unsigned i = 0; i < entry.source.getNumArguments(); ++i) {
    HostTensor tensor = argumentTensor(i);
    tensor.buffer = bufferOf[i];
    values.bind(entry.source.getArgument(i), tensor);
  }
}

Value EntryInterface::allocateResult(int64_t number, const HostTensor &like) {
  Value data = call("adrt_result", pointerType,
                    {context, entry.result(number), i32(number),
                     i32(TensorDescriptors::elementNumber(like.type.getElementType())),
                     i32(like.type.getRank()), descriptors.shapeArray(like)});
  entry.guardMemory(data, buffers.largestUser([&](const PlannedPlace &buffer) {
    return buffer.home == Home::result && buffer.number == number;
  }));
  return data;
}

void EntryInterface::bindResults() {
  for (const PlannedPlace &buffer : buffers.plan.buffers()) {
    if (buffer.home != Home::result)
      continue;
    auto type = cast<RankedTensorType>(entry.source.getResultTypes()[buffer.number]);
    HostTensor described{nullptr, values.sizesOf(type, {}), type, -1};
    buffers.bindResultMemory(buffer.number, allocateResult(buffer.number, described));
  }
}

void EntryInterface::emitReturn(func::ReturnOp op) {
  copyStackVariablesToResults();
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    if (buffers.memoryOfResult(number))
      continue;
    HostTensor tensor = values.tensor(operand);
    const PlannedPlace *buffer = tensor.buffer >= 0 ? &buffers.plan[tensor.buffer] : nullptr;
    if (buffer && buffer->home == Home::argument && isDonated(buffer->number, number)) {
      returnDonated(buffer->number, number, tensor);
      continue;
    }
    Value data = allocateResult(number, tensor);
    copies.copyBytes(data, tensor.pointer, values.byteCount(tensor));
  }
}

void EntryInterface::copyStackVariablesToResults() {
  for (auto [number, buffer] : llvm::enumerate(buffers.plan.buffers()))
    if (Value variable = buffers.existingStackVariable(number); variable && buffer.home == Home::result)
      copies.copyBytes(buffers.memoryOfResult(buffer.number), variable, i64(buffer.bytes));
}

bool EntryInterface::isDonated(int64_t argument, int64_t result) {
  auto donated = entry.source.getArgAttrOfType<IntegerAttr>(argument, ADDialect::kDonatedAttr);
  return donated && donated.getInt() == result;
}

// The host's memory of the argument becomes the result; on a device, it is read back into that memory.
void EntryInterface::returnDonated(int64_t number, int64_t result, const HostTensor &tensor) {
  Value argument = entry.argument(number);
  if (options.device) {
    Value address = entry.fieldAddress(entry.tensorType, argument, 0);
    Value data = LLVM::LoadOp::create(builder, loc, pointerType, address);
    copies.readFromDevice(data, tensor.pointer, values.byteCount(tensor));
  }
  Value described = LLVM::LoadOp::create(builder, loc, entry.tensorType, argument);
  LLVM::StoreOp::create(builder, loc, described, entry.result(result));
}
