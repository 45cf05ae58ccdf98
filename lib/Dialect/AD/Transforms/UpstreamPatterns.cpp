// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The allow-list of upstream patterns. test/Permissions/upstream_patterns_test.py compares their results with
// those of programs that are not simplified, and refuses upstream pattern sets in other files.

#include "adjoint/Dialect/AD/Transforms/UpstreamPatterns.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

// The allow-list. Integer and index arithmetic is exact; float arithmetic of `arith` folds through APFloat,
// rounded once, to nearest even; scf moves and removes control flow; tensor.dim and tensor.cast know shapes
// only.
bool ad::mayFold(Operation *op) {
  return isa<tensor::DimOp, tensor::CastOp>(op) ||
         isa_and_nonnull<ADDialect, arith::ArithDialect, scf::SCFDialect>(op->getDialect());
}

void ad::populateAllowedPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isa<ADDialect, scf::SCFDialect>(name.getDialect()))
      name.getCanonicalizationPatterns(patterns, context);
  for (StringRef name : {arith::CmpIOp::getOperationName(), arith::SelectOp::getOperationName(),
                         arith::AddIOp::getOperationName(), arith::SubIOp::getOperationName(),
                         arith::MulIOp::getOperationName(), arith::IndexCastOp::getOperationName(),
                         tensor::DimOp::getOperationName(), tensor::CastOp::getOperationName()})
    if (std::optional<RegisteredOperationName> info = RegisteredOperationName::lookup(name, context))
      info->getCanonicalizationPatterns(patterns, context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
}
