// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/Transforms/FusionPolicy.h"

using namespace mlir;
using namespace mlir::ad;

const FusionPolicy *FusionPolicy::get(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<ADDialect>();
  return dialect ? dialect->getRegisteredInterface<FusionPolicy>() : nullptr;
}
