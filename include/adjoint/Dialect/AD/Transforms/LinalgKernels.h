// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a linalg.generic in a kernel may be. One verifier serves ad-verify-linalg and the emitters: code that
// another compiler wrote is compiled as linalg defines it, or refused with the reason.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_LINALGKERNELS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_LINALGKERNELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace mlir::ad {

enum class ReductionForm {
  joined,    ///< accumulator ∘ value, where ∘ joins partial results and has a neutral element
  selection, ///< several accumulators that change together under one condition: argmax
  scan,      ///< every step of the chain is a result: cumsum
  chain      ///< anything else: one ascending chain, which starts from the outs
};

/// How an operation with reduction loops combines the elements.
struct ReductionStructure {
  ReductionForm form = ReductionForm::chain;
  /// Of joined reductions, and of scans whose partial results can be joined: the operation that yields the
  /// next accumulator, and the value that it keeps.
  Operation *combiner = nullptr;
  TypedAttr neutral;
  /// Of chains and scans: why partial results cannot be joined.
  std::string reason;
};

ReductionStructure matchReduction(linalg::GenericOp generic);

/// Whether a joined reduction starts from its neutral element, as far as the IR says. Sums may start from
/// +0 or -0.
bool startsAtNeutral(linalg::GenericOp generic, const ReductionStructure &structure);

/// Elements that are reduced into one; ShapedType::kDynamic if the number is dynamic.
int64_t reducedElements(linalg::GenericOp generic);

/// An operation that joins two partial results: that of the combiner, an addition for FMAs.
Value joinPartialResults(OpBuilder &builder, Location loc, Operation *combiner, Value lhs, Value rhs);

/// The longest chain of operations in a kernel that depend on each other.
constexpr unsigned kMaxKernelDepth = 1000;

/// Fails after a diagnostic when the body of an ad.fusion or ad.kernel has linalg that no emitter compiles as
/// linalg defines it.
LogicalResult verifyLinalgBody(Operation *fusionOrKernel);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_LINALGKERNELS_H
