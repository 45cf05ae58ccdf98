// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The rewrite patterns of the passes, for pipelines and embedders that combine them differently.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_PATTERNS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_PATTERNS_H

#include <cstdint>

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::ad {
/// Operations with a written decomposition, by it.
void populateDecomposeNNPatterns(RewritePatternSet &patterns);

/// Reductions over several axes, means, and sums to a shape by reductions over one axis.
void populateDecomposeReductionPatterns(RewritePatternSet &patterns);

/// Part of the above: ad.sum_to_shape, whose axes may be known only at run time.
void populateDecomposeSumToShapePatterns(RewritePatternSet &patterns);

/// Contractions over several axes by contractions over one.
void populateDecomposeContractionPatterns(RewritePatternSet &patterns);

/// Scatters of 16- and 8-bit floats as ones of f32.
void populateDecomposeScatterPatterns(RewritePatternSet &patterns);

/// Bit-exact: ad.sort and ad.top_k by ad.argsort.
void populateDecomposeSortingPatterns(RewritePatternSet &patterns);

/// Bit-exact: convolutions of padded inputs, and those that are contractions.
void populateDecomposeConvPatterns(RewritePatternSet &patterns);

/// Bit-exact: convolutions by ad.dot of a copy of the input that has the elements of all windows.
void populatePatchesOfConvPatterns(RewritePatternSet &patterns);

/// Bit-exact: transposes that are folded into the axes of ad.dot, and movement that cancels.
void populateMovementPatterns(RewritePatternSet &patterns);

/// Bit-exact: conversions between indices and integers that cancel.
void populateIndexPatterns(RewritePatternSet &patterns);

/// Bit-exact: loops of no iteration and of one.
void populateLoopPatterns(RewritePatternSet &patterns);

/// Identities of real numbers; each needs the permission `algebra` (`widen` for casts).
void populateAlgebraPatterns(RewritePatternSet &patterns);

/// A product with a bias or a factor as one ad.gemm (`widen`, `algebra`), and bit-exact reshapes around
/// products.
void populateContractionPatterns(RewritePatternSet &patterns);

/// Contractions as sums of parts, for a GPU with that many thread blocks (`reorder` and `contract`; integers:
/// none).
void populateSplitKPatterns(RewritePatternSet &patterns, int64_t blocks);

/// Bit-exact: scatters of at least `updates` updates, as kernels with the updates in the order of elements.
void populateSortScattersPatterns(RewritePatternSet &patterns, int64_t updates);

/// Bit-exact: contractions of 8-bit floats that tensor cores can compute, by contractions of casts to f16,
/// where no instruction is fixed.
void populateInstructionPatterns(RewritePatternSet &patterns);

/// Bit-exact: contractions of narrow operands by contractions of casts. With `dotProducts`, the CPU has
/// instructions for bf16.
void populateWidenOperandsPatterns(RewritePatternSet &patterns, bool dotProducts);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_PATTERNS_H
