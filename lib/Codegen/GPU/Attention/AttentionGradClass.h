// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The class of kernels of ad.attention_grad.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONGRADCLASS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONGRADCLASS_H

#include "adjoint/Codegen/Kernel/GPUKernelClass.h"

namespace mlir::ad::device {

constexpr llvm::StringLiteral kAttentionGradClass = "attention_grad";

class AttentionGradClass : public GPUKernelClass {
public:
  AttentionGradClass() : GPUKernelClass(kAttentionGradClass, kHighestOwnBenefit + 1) {}

  bool covers(FusionOp fusion) const override;
  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &, std::string &) const override;
  LogicalResult emit(GPUFunctions &functions, const KernelPlan &plan) const override;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONGRADCLASS_H
