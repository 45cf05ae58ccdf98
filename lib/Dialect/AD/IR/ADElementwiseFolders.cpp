// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Folding of elementwise operations: bit-exact identities, then evaluation of constants.

#include "Elementwise.h"

using namespace mlir;
using namespace mlir::ad;

OpFoldResult ad::foldElementwise(Operation *, ArrayRef<Attribute>) { return {}; }

void CastOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void AddOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void SubOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void MulOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void DivOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
