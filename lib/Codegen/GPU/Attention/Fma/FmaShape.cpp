// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaShape.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

int64_t FmaShape::sharedBytes() const {
  int64_t endOfKeys = stagedKeys() + sliceBytes(kSlabKeys);
  int64_t endOfValues = stagedValues() + kSlice * columns() * bytes;
  return std::max(endOfKeys, endOfValues);
}

LaunchShape FmaShape::launch() const {
  LaunchShape shape = {MappingLevel::block, /*result=*/0, /*axes=*/3};
  shape.tile = {rows()};
  shape.threadsPerBlock = kThreads;
  shape.dynamicSharedBytes = sharedBytes();
  return shape;
}
