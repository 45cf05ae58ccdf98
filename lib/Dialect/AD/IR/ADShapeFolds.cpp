// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Folds of the operations that move data: bit-exact, none sees through ad.barrier.

#include "ShapeUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::ad;

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult SumToShapeOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult PadOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) { return {}; }
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
