// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A linalg.generic as the importer sees it: loops with sizes, and what each operand reads or writes.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_LOOPNEST_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_LOOPNEST_H

#include "Accesses.h"
#include "Combiners.h"
#include "Refusals.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad {
struct LoopNest {
  LoopNest(TensorCode code, linalg::GenericOp op);

  bool isReduced(unsigned loop) const { return llvm::is_contained(reduction, loop); }
  Value operandOf(BlockArgument argument) const { return operands[argument.getArgNumber()]; }
  AffineMap mapOf(BlockArgument argument) const { return maps[argument.getArgNumber()]; }
  SmallVector<OpFoldResult> sizesOf(ArrayRef<unsigned> loops) const {
    return llvm::map_to_vector(loops, [&](unsigned loop) { return sizes[loop]; });
  }

  linalg::GenericOp op;
  Block *body;
  unsigned inputs; ///< the first operands; others are what the results begin with
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands; ///< with all static sizes that other operands have
  SmallVector<OpFoldResult> sizes;
  SmallVector<unsigned> parallel, reduction;
};

/// The size of an axis, which is that of the destination where an operation has one: a destination that
/// nothing reads is not kept alive.
OpFoldResult sizeOfAxis(TensorCode code, Value tensor, int64_t axis);

/// From an aligned tensor to the axes of a result.
Value moveToResult(TensorCode code, const LoopNest &nest, Value aligned, AffineMap map);

/// All results of a nest whose combiner is none of `ad`: loops of the program around tensors over the
/// parallel loops, one iteration after another.
FailureOr<SmallVector<Value>> runIterations(TensorCode code, const LoopNest &nest, Refusals &refusals);

/// The sum over the reduction loops of the product of two aligned tensors, as one ad.dot; aligned, with
/// elements of `element`. Null if it is no contraction: a reduction loop is not of both, or there is none.
Value contract(TensorCode code, const LoopNest &nest, Value lhs, Value rhs, Type element);

/// The same of two arguments of the body, one of which is read at sums of loops, as one ad.conv.
Value convolve(TensorCode code, const LoopNest &nest, BlockArgument lhs, BlockArgument rhs, Type element);

/// The elements that the argument reads at sums of loops, reduced by a sum, maximum or minimum over windows.
/// Null if they are no windows; `widened` sums in f32.
Value poolWindows(TensorCode code, const LoopNest &nest, CombinerKind kind, BlockArgument argument,
                  bool widened);
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_LOOPNEST_H
