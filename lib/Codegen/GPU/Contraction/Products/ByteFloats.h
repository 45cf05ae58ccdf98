// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of 8-bit floats whose instruction is fixed: `mma.sync` m16n8k32 of these types, or of f16 on chips
// that lack it.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_BYTEFLOATS_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_BYTEFLOATS_H

#include "../ContractionMatch.h"

namespace mlir::ad::device {

/// Widens the operands of the kernel's products of 8-bit floats with a fixed instruction to f16, which has
/// all of their values. The kernel converts elements where it loads them.
void widenByteFloats(KernelOp kernel);

/// LLVM's name of the instruction that multiplies the 8-bit floats of the contraction.
std::string intrinsicOfByteFloats(const Contraction &contraction);

/// The instruction of a contraction whose sums are promoted, of any type, as remarks and the report name it.
std::string describePromoted(const Contraction &contraction);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_BYTEFLOATS_H
