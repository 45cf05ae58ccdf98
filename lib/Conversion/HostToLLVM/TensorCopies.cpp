// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of whole tensors.

#include "TensorCopies.h"

using namespace mlir;
using namespace mlir::ad::host;

static Type typeInMemory(Type element) {
  bool isFloat = isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 32;
  return isFloat ? element
                 : IntegerType::get(element.getContext(), std::max(8u, element.getIntOrFloatBitWidth()));
}

// Loads and stores of the vectors that kernels store. LLVM keeps no variable in a register that memcpy copies
// to another one.
static void copyVectors(OpBuilder &builder, Location loc, Value target, Value source, RankedTensorType type) {
  constexpr int64_t vectorBytes = 64;
  Type element = typeInMemory(type.getElementType());
  int64_t width = element.getIntOrFloatBitWidth() / 8, count = type.getNumElements();
  auto at = [&](Value base, int64_t index) -> Value {
    return LLVM::GEPOp::create(builder, loc, base.getType(), element, base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  };
  for (int64_t index = 0, lanes; index < count; index += lanes) {
    lanes = std::min<int64_t>(vectorBytes / width, llvm::bit_floor(uint64_t(count - index)));
    Type loaded = lanes == 1 ? element : VectorType::get(lanes, element);
    Value value = LLVM::LoadOp::create(builder, loc, loaded, at(source, index), width);
    LLVM::StoreOp::create(builder, loc, value, at(target, index), width);
  }
}

void TensorCopies::copy(const HostTensor &target, const HostTensor &source) {
  if (target.buffer >= 0 && target.buffer == source.buffer)
    return;
  RankedTensorType type = target.type.hasStaticShape() ? target.type : source.type;
  if (type.hasStaticShape() &&
      (buffers.existingStackVariable(target.buffer) || buffers.existingStackVariable(source.buffer))) {
    copyVectors(builder, loc, target.pointer, source.pointer, type);
    return;
  }
  if (source.isZero && !options.device) { // zeros need not be read
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
    LLVM::MemsetOp::create(builder, loc, target.pointer, zero, values.byteCount(source),
                           /*isVolatile=*/false);
    return;
  }
  copyBytes(target.pointer, source.pointer, values.byteCount(source));
}

void TensorCopies::copyBytes(Value target, Value source, Value bytes) {
  if (options.device)
    guard(call("adrt_copy", builder.getI32Type(), {context, target, source, bytes}));
  else
    LLVM::MemcpyOp::create(builder, loc, target, source, bytes, /*isVolatile=*/false);
}

void TensorCopies::readFromDevice(Value target, Value source, Value bytes) {
  guard(call("adrt_read", builder.getI32Type(), {context, target, source, bytes}));
}

Value TensorCopies::constantOnDevice(Value data, const HostTensor &described) {
  Value memory = call("adrt_constant", pointerType, {context, data, values.byteCount(described)});
  entry.guardMemory(memory, loc);
  return memory;
}
