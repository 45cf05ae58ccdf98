// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FenceExtensions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

void ad::fenceExtensions(Operation *root) {
  root->walk([](LLVM::FPExtOp extension) {
    OpBuilder builder(extension->getContext());
    builder.setInsertionPointAfter(extension);
    auto fence =
        LLVM::CallIntrinsicOp::create(builder, extension.getLoc(), extension.getType(),
                                      builder.getStringAttr("llvm.arithmetic.fence"), extension.getResult());
    extension.getResult().replaceAllUsesExcept(fence.getResults(), fence);
  });
}
