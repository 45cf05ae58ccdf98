// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A kernel class whose code a GPUKernelEmitter makes: one function, or those of divided reductions
// (Division.h).

#ifndef ADJOINT_LIB_CODEGEN_GPU_CLASSES_EMITTERCLASS_H
#define ADJOINT_LIB_CODEGEN_GPU_CLASSES_EMITTERCLASS_H

#include "../Generic/GPUKernelEmitter.h"
#include "../Reduction/Division.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"

namespace mlir::ad::device {

class EmitterClass : public GPUKernelClass {
public:
  LogicalResult emit(GPUFunctions &functions, const KernelPlan &plan) const final;
  bool readsBeforeStoring() const final { return true; }

protected:
  using GPUKernelClass::GPUKernelClass;
  using Emitter = std::unique_ptr<GPUKernelEmitter>;

  /// Null after a diagnostic.
  virtual Emitter emitterFor(GPUFunctions &functions, ::mlir::gpu::GPUFuncOp function,
                             const KernelPlan &plan) const = 0;
  virtual std::optional<Division> divisionOf(KernelOp kernel, const KernelPlan &) const {
    return matchDivision(kernel, /*hasBlockPerRow=*/false);
  }
  /// Whether the emitter takes the shapes of the kernel as they are, and makes code for each of its elements.
  virtual bool computesElements() const { return false; }
  /// Whether indices of 32 bits are enough where tensors have few elements.
  virtual bool hasShortIndices() const { return computesElements(); }
  void narrowIndices(KernelOp kernel, ::mlir::gpu::GPUFuncOp function) const;
  /// Of the first kernel of a divided reduction, and of the second one.
  virtual Emitter nodeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const KernelPlan &) const {
    return std::make_unique<GPUKernelEmitter>(kernel, function);
  }
  virtual Emitter joinEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const KernelPlan &) const {
    return std::make_unique<GPUKernelEmitter>(kernel, function);
  }
  /// Emits the host function that computes the sizes of what the first kernel writes. False if it would read
  /// elements of an operand.
  virtual FailureOr<bool> emitSizes(KernelOp kernel, func::FuncOp host, const Division &division,
                                    int64_t threadsPerNode, const KernelPlan &) const;

private:
  FailureOr<func::FuncOp> emitWhole(GPUFunctions &functions, const KernelPlan &plan) const;
  FailureOr<func::FuncOp> emitDivided(GPUFunctions &functions, const KernelPlan &plan) const;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CLASSES_EMITTERCLASS_H
