// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelTypes.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

Type codegen::memoryType(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isa<FloatType>(element) && width < 32)
    return IntegerType::get(element.getContext(), width);
  return element;
}

int64_t codegen::memoryBytes(Type element) { return memoryType(element).getIntOrFloatBitWidth() / 8; }

int64_t Nest::laneAxis() const {
  int64_t laneAxis = -1;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1)
      laneAxis = axis;
  return laneAxis;
}
