// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a kernel has to look like for the class of contractions on a GPU.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONMATCH_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONMATCH_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::device {

/// What multiplies: each thread by itself, the tensor cores of a warp (`mma.sync`), or those of a warpgroup
/// (`wgmma`), whose operands tensor maps bring.
enum class Units { MultiplyAdds, TensorCores, Warpgroups };
StringRef nameOf(Units units);

/// The contraction of a kernel. The last axis of its result runs along `columnLoop`, the one before along
/// `rowLoop`; `rows` and `columns` are the operands that have one of them each.
struct Contraction {
  linalg::GenericOp op;
  OpOperand *rows, *columns;
  unsigned rowLoop, columnLoop, depthLoop;
  Units units; // tensor cores for i8, and for the floats that permissions let them sum
};

/// The one contraction of the kernel, when each result of the kernel has its shape and
/// reads it element by element; otherwise `reason` says what is in the way.
std::optional<Contraction> matchContraction(KernelOp kernel, std::string &reason);

/// Why warpgroups cannot multiply what tensor cores may: mostly since tensor maps cannot bring the operands
/// as they lie in memory. Empty when they can.
std::string whyNoWarpgroups(const Contraction &contraction);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONMATCH_H
