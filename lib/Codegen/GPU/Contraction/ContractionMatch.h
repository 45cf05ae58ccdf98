// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which kernels the class of contractions covers on a GPU, and which instruction multiplies.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONMATCH_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONMATCH_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::device {

/// The instruction that multiplies: FMA of each thread (SIMT), `mma.sync` of a warp, or `wgmma` of a
/// warpgroup, whose operands TMA loads.
enum class MathInstruction { Fma, MmaSync, Wgmma };
StringRef nameOf(MathInstruction instruction);

/// The contraction of a kernel, (M, K) x (K, N) with batch axes. N is the last axis of its result, M the last
/// one that operand B lacks; operand A has M, operand B has N, and both have the reduction dimension K. The
/// other axes of the result are batches, whether both operands have them or one.
struct Contraction {
  linalg::GenericOp op;
  OpOperand *operandA, *operandB;
  unsigned mLoop, nLoop, kLoop;
  int64_t mAxis;               // of the result
  MathInstruction instruction; // tensor cores for i8, and for floats with permissions
  bool loadsByTma = false;     // K tiles for `mma.sync`, on chips that have TMA
};

/// The instruction that the kernel of the contraction has to use; null if the kernel may choose.
InstructionAttr fixedInstruction(linalg::GenericOp op);
/// After how many products the instruction's sum is added to that of all of K, in f32; 0 if it is one sum.
int64_t promotionStep(linalg::GenericOp op);
/// The products of a chain of the instruction's sum, which a tree joins; 0 if it is one chain.
int64_t chainLength(linalg::GenericOp op);
bool isByteFloat(Type type);

/// The one contraction of the kernel, if each result of the kernel has its shape and reads it element by
/// element; otherwise `reason` says what prevents that.
std::optional<Contraction> matchContraction(KernelOp kernel, std::string &reason);

/// Whether TMA can load the operands as they are in memory, and `ldmatrix` reads them from where it does.
bool canLoadByTma(const Contraction &contraction);

/// Why the contraction uses `mma.sync` although the chip has `wgmma`: in most cases TMA cannot load an
/// operand as it is in memory. Empty if it can use `wgmma`.
std::string whyNoWgmma(const Contraction &contraction);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONMATCH_H
