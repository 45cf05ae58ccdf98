// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernel classes for GPUs (KernelClass.h).

#ifndef ADJOINT_CODEGEN_KERNEL_GPUKERNELCLASS_H
#define ADJOINT_CODEGEN_KERNEL_GPUKERNELCLASS_H

#include "adjoint/Codegen/Kernel/LaunchShape.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad {

struct GPUTarget : KernelTarget {
  GPUTarget(const Chip &chip, StringRef tile) : KernelTarget(TargetKind::gpu), chip(chip), tile(tile) {}
  Chip chip;
  std::string tile; ///< of contractions, by its name; empty: the class chooses
};

/// The registers that ptxas may give to a thread: as many as leave room for that many blocks on a
/// multiprocessor, or at most that many (the other is 0).
struct RegisterLimit {
  int64_t minBlocksPerSM = 2, maxRegisters = 0;
};

/// The functions of one kernel: device code in the module of kernels, and declarations for the host program.
class GPUFunctions {
public:
  GPUFunctions(KernelOp kernel, ::mlir::gpu::GPUModuleOp module, const GPUTarget &target)
      : kernel(kernel), target(target), module(module) {}

  KernelOp kernel;
  const GPUTarget &target;

  /// Defines a function with the name of the kernel and the suffix, and an entry block. Its arguments are a
  /// pointer and the dynamic sizes of each tensor, scalars as they are, first of the kernel's arguments, then
  /// of its results; then those of the types `more`.
  ::mlir::gpu::GPUFuncOp define(StringRef suffix = {}, TypeRange more = {});

  /// Ends the function, whose body is complete, and gives it what ptxas and the launch need. The class of the
  /// kernel is the name that profiles have.
  void finish(::mlir::gpu::GPUFuncOp function, const device::LaunchShape &shape,
              const RegisterLimit &registers, StringRef className);

  /// Declares the function for the host program, which launches it in that shape.
  func::FuncOp declare(::mlir::gpu::GPUFuncOp function, const device::LaunchShape &shape);

  /// Declares a kernel whose work is that of its parts: no function has its name.
  func::FuncOp declareDivided(const device::LaunchShape &shape);

private:
  func::FuncOp declare(StringRef name, FunctionType type, const device::LaunchShape &shape);

  ::mlir::gpu::GPUModuleOp module;
};

class GPUKernelClass : public KernelClass {
public:
  std::unique_ptr<KernelPlan> match(KernelOp kernel, const KernelTarget &target,
                                    std::string &reason) const final {
    return matchOnGPU(kernel, static_cast<const GPUTarget &>(target), reason);
  }
  virtual std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &target,
                                                 std::string &reason) const = 0;

  /// Refuses operations with a fixed instruction (ad.instruction): code that does not use it has other bits.
  LogicalResult verify(KernelOp kernel, const KernelPlan &plan, StringRef whyNotNamed) const override;

  /// Defines and finishes the function of the kernel, without a suffix. Every grid up to the one of the
  /// launch computes the same bits. The kernel is erased afterwards. Fails after a diagnostic.
  virtual LogicalResult emit(GPUFunctions &functions, const KernelPlan &plan) const = 0;

protected:
  GPUKernelClass(StringRef name, unsigned benefit) : KernelClass(name, TargetKind::gpu, benefit) {}
};

/// Adjoint's classes.
void registerGPUKernelClasses(DialectRegistry &registry);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_GPUKERNELCLASS_H
