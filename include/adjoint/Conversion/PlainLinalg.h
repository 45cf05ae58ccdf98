// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Patterns of `convert-ad-to-plain`, for compilers that take linalg of upstream's dialects alone. Apply the
// sets in the order of this file: the order of a sum is an attribute of the fusion or kernel around it, and
// is lost once that is inlined.

#ifndef ADJOINT_CONVERSION_PLAINLINALG_H
#define ADJOINT_CONVERSION_PLAINLINALG_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::ad {

/// Reductions in the order of their kernel: parts and lanes become dimensions, or loops of scalar code.
void populateWrittenOrderPatterns(RewritePatternSet &patterns);

/// Fusions and launches become the code of their kernel.
void populateInlineKernelPatterns(RewritePatternSet &patterns);

/// Operations of a host program: reshapes and constants of upstream, conditions and checks as `cf.assert`.
void populatePlainHostPatterns(RewritePatternSet &patterns);

} // namespace mlir::ad

#endif // ADJOINT_CONVERSION_PLAINLINALG_H
