// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernel classes for CPUs (KernelClass.h).

#ifndef ADJOINT_CODEGEN_KERNEL_CPUKERNELCLASS_H
#define ADJOINT_CODEGEN_KERNEL_CPUKERNELCLASS_H

#include "adjoint/Codegen/Target/CPUs.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"

namespace mlir::ad {

struct CPUTarget : KernelTarget {
  CPUTarget(int64_t lanes, const TileTable &tiles, bool dotProducts)
      : KernelTarget(TargetKind::cpu), lanes(lanes), tiles(tiles), dotProducts(dotProducts) {}
  int64_t lanes; ///< of 32 bits in a vector register
  TileTable tiles;
  bool dotProducts; ///< the CPU has the dot-product instructions of bf16 and i8
};

class CPUKernelClass : public KernelClass {
public:
  std::unique_ptr<KernelPlan> match(KernelOp kernel, const KernelTarget &target,
                                    std::string &reason) const final {
    return matchOnCPU(kernel, static_cast<const CPUTarget &>(target), reason);
  }
  virtual std::unique_ptr<KernelPlan> matchOnCPU(KernelOp kernel, const CPUTarget &target,
                                                 std::string &reason) const = 0;

  /// Defines the function of the kernel (defineHostFunction, KernelFunctions.h) without a suffix. After the
  /// operands it has two arguments of type index, the range of units of work to run. It has the attributes
  /// `ad.units`, how many units there are, and `ad.nanoseconds` (WorkUnits.h). Loads and stores are of the
  /// LLVM dialect, loops of `scf`. The kernel is erased afterwards. Fails after a diagnostic.
  virtual LogicalResult emit(KernelOp kernel, const KernelPlan &plan, const CPUTarget &target) const = 0;

protected:
  CPUKernelClass(StringRef name, unsigned benefit) : KernelClass(name, TargetKind::cpu, benefit) {}
};

/// Adjoint's classes, all of which have one emitter.
void registerCPUKernelClasses(DialectRegistry &registry);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_CPUKERNELCLASS_H
