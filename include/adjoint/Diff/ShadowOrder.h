// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How reports about rounding errors are sorted: the tool reads it from its options, the runner sorts.
#ifndef ADJOINT_DIFF_SHADOWORDER_H
#define ADJOINT_DIFF_SHADOWORDER_H

namespace mlir::ad::diff {

/// By what a report about rounding errors sorts operations, the largest first.
enum class ShadowOrder { Local, Total, Amplification, Digits };

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_SHADOWORDER_H
