// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaGradShape.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

int64_t FmaGradShape::sharedBytes() const {
  return std::max(stagedKeys() + sliceBytes(kSlabKeys), stagedColumns() + kSlice * columns() * bytes);
}
