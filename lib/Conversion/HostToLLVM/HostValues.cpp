// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors and scalars of the host program, and the sizes of tensors.

#include "HostValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

SmallVector<Value> host::nonTensors(ValueRange values) {
  SmallVector<Value> kept;
  for (Value value : values)
    if (!isa<RankedTensorType>(value.getType()))
      kept.push_back(value);
  return kept;
}

SmallVector<Value> HostValues::scalars(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value value) { return scalar(value); });
}

SmallVector<Value> HostValues::nonTensorScalars(ValueRange values) const {
  return scalars(nonTensors(values));
}

void HostValues::bindNonTensors(ValueRange values, ValueRange scalars) {
  for (auto [value, scalar] : llvm::zip_equal(nonTensors(values), scalars))
    bindScalar(value, scalar);
}

SmallVector<Value> HostValues::sizesOf(RankedTensorType type, ValueRange dynamic) {
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(indexConstant(size));
      continue;
    }
    sizes.push_back(dynamic.front());
    dynamic = dynamic.drop_front();
  }
  return sizes;
}

Value HostValues::elementCount(const HostTensor &tensor) {
  Value count = indexConstant(1);
  for (Value size : tensor.sizes)
    count = builder.createOrFold<arith::MulIOp>(loc, count, size);
  return count;
}

Value HostValues::byteCount(const HostTensor &tensor) {
  int64_t width = std::max<int64_t>(1, tensor.type.getElementTypeBitWidth() / 8);
  return toI64(builder.createOrFold<arith::MulIOp>(loc, elementCount(tensor), indexConstant(width)));
}
