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
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, entry.tensorType,
                                        entry.function.getArgument(1), ArrayRef<LLVM::GEPArg>{number, index});
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
  for (unsigned i = 0; i < entry.source.getNumArguments(); ++i) {
    HostTensor tensor = argumentTensor(i);
    tensor.buffer = buffers.plan.bufferOf(entry.source.getArgument(i));
    values.bind(entry.source.getArgument(i), tensor);
  }
}

void EntryInterface::emitReturn(func::ReturnOp op) {
  copyStackVariablesToResults();
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    auto number = static_cast<int64_t>(index);
    HostTensor tensor = values.tensor(operand);
    BufferAttr buffer = tensor.buffer >= 0 ? buffers.plan.getBuffer(tensor.buffer) : BufferAttr();
    bool isInArgument = buffer && buffer.getStorage() == StorageKind::argument;
    if (buffer && buffer.getStorage() == StorageKind::result && buffer.getNumber() == number)
      continue; // it is there
    if (isInArgument && donatedResult(entry.source, buffer.getNumber()) == number) {
      returnDonated(buffer.getNumber(), number, tensor);
      continue;
    }
    Value data = buffers.allocateResult(number, tensor, loc);
    copies.copyBytes(data, tensor.pointer, values.byteCount(tensor));
  }
}

void EntryInterface::copyStackVariablesToResults() {
  for (auto [number, buffer] : llvm::enumerate(buffers.plan.getBuffers()))
    if (Value variable = buffers.existingStackVariable(number);
        variable && buffer.getStorage() == StorageKind::result)
      copies.copyBytes(buffers.memoryOfResult(buffer.getNumber()), variable, i64(buffer.getBytes()));
}

// The argument becomes the result, with the memory that it has. On a device, the runtime reads it back if
// that is the host's. Dynamic sizes of the result may be those of the argument in another order.
void EntryInterface::returnDonated(int64_t number, int64_t result, const HostTensor &tensor) {
  Value argument = entry.argument(number);
  if (options.device || !tensor.type.hasStaticShape())
    return guard(call("adrt_donated_result", builder.getI32Type(),
                      {context, entry.result(result), i32(result), argument, tensor.pointer,
                       descriptors.shapeArray(tensor)}));
  Value described = LLVM::LoadOp::create(builder, loc, entry.tensorType, argument);
  LLVM::StoreOp::create(builder, loc, described, entry.result(result));
}
