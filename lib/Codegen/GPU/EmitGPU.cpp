// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-emit-gpu`: a `gpu.func` for each kernel by the emitter of its class, and a declaration that
// tells the host program how to launch it.

#include "../Kernel/NormalizeKernel.h"
#include "Contraction/Products/ByteFloats.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"
#include "adjoint/Codegen/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-emit-gpu"

namespace mlir::ad {
#define GEN_PASS_DEF_EMITGPUPASS
#include "adjoint/Codegen/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using ::mlir::gpu::GPUModuleOp;

namespace {
class EmitGPUPass : public ad::impl::EmitGPUPassBase<EmitGPUPass> {
public:
  using EmitGPUPassBase::EmitGPUPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitGPUPassBase::getDependentDialects(registry);
    registerGPUKernelClasses(registry);
  }

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireStage(getOperation(), Stage::planned)))
      return signalPassFailure();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    if (kernels.empty())
      return;
    std::optional<Chip> found = findChip(chip);
    if (!found) {
      emitError(module.getLoc(), "unknown chip '") << chip << "', expected " << chipNames();
      return signalPassFailure();
    }
    GPUTarget target(*found, tile);
    GPUModuleOp gpuModule = makeModule(module);
    for (KernelOp kernel : kernels)
      if (failed(emit(kernel, gpuModule, target)))
        return signalPassFailure();
  }

  static GPUModuleOp makeModule(ModuleOp module) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto isTaken = [&](StringRef name) { return SymbolTable::lookupSymbolIn(module, name) != nullptr; };
    unsigned number = 0;
    SmallString<16> name(kKernelModule);
    if (isTaken(name))
      name = SymbolTable::generateSymbolName<16>(kKernelModule, isTaken, number);
    return GPUModuleOp::create(builder, module.getLoc(), name);
  }

  static LogicalResult emit(KernelOp kernel, GPUModuleOp gpuModule, const GPUTarget &target) {
    if (failed(normalizeKernel(kernel)) || failed(refusePanels(kernel)))
      return failure();
    if (target.chip.ptxOfByteFloats.empty())
      device::widenByteFloats(kernel);
    ChosenClass chosen = chooseKernelClass(kernel, target);
    if (!chosen.kernelClass)
      return failure();
    LDBG() << "@" << kernel.getSymName() << " has class " << chosen.kernelClass->getName();
    reportKernelClass(kernel, chosen, "ad-gpu");
    GPUFunctions functions(kernel, gpuModule, target);
    if (failed(static_cast<const GPUKernelClass *>(chosen.kernelClass)->emit(functions, *chosen.plan)))
      return failure();
    kernel.erase();
    return success();
  }

  // Operands are not packed before their kernels for GPUs.
  static LogicalResult refusePanels(KernelOp kernel) {
    for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
      for (OpOperand &init : generic.getDpsInitsMutable())
        if (llvm::any_of(generic.getMatchingIndexingMap(&init).getResults(),
                         [](AffineExpr expr) { return isa<AffineBinaryOpExpr>(expr); }))
          return generic.emitOpError(
              "expected a projected permutation as the map of a result, but got one that "
              "packs panels, which only the CPU has; write the result as it is");
    return success();
  }
};
} // namespace
