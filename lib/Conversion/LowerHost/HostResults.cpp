// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Results. The buffer of a returned tensor of static shape lies in the memory that the host gets, so that
// kernels write it there; what is returned a second time, or is an argument, is copied at the end.

#include "HostEmitter.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

// The buffer of the plan that the value lives in; -1 for arguments and constants.
static int64_t plannedBuffer(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (auto buffers = op->getAttrOfType<DenseI64ArrayAttr>("ad.buffer"))
      return buffers[result.getResultNumber()];
    if (!isa<ReshapeOp, BarrierOp, tensor::CastOp>(op))
      return -1;
    value = op->getOperand(result.getResultNumber());
  }
  return -1;
}

Value HostEmitter::allocateResult(unsigned number, const HostTensor &like) {
  Value slot = LLVM::GEPOp::create(builder, loc, pointerType, tensorType, entry.getArgument(2),
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  Value data = call("adrt_result", pointerType,
                    {context, slot, i32(number), i32(elementNumber(like.type.getElementType())),
                     i32(like.type.getRank()), shapeArray(like)});
  guardNotNull(data);
  return data;
}

void HostEmitter::bindResults() {
  Operation *end = source.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(end->getOperands())) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t buffer = type.hasStaticShape() ? plannedBuffer(value) : -1;
    bool own = buffer >= 0 && places[2 * buffer] >= 0 && !resultPlaces.count(buffer);
    resultBuffers.push_back(own ? buffer : -1);
    if (own)
      resultPlaces[buffer] = allocateResult(number, {nullptr, sizesOf(type, {}), type, buffer});
  }
}

void HostEmitter::emitReturn(func::ReturnOp op) {
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    const HostTensor tensor = tensors.lookup(operand);
    if (resultBuffers[number] >= 0)
      continue;
    Value data = allocateResult(number, tensor);
    LLVM::MemcpyOp::create(builder, loc, data, tensor.pointer, byteCount(tensor), /*isVolatile=*/false);
  }
}
