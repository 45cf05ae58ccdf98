// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations: generated definitions. What they do is in BroadcastTypes.cpp and
// ADElementwiseFolders.cpp.

#include "Elementwise.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADElementwiseOps.cpp.inc"

void ADDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADElementwiseOps.cpp.inc"
      >();
}
