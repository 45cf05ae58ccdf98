// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-emit-cpu`: functions for each kernel by the emitter of its class.

#include "../Kernel/NormalizeKernel.h"
#include "adjoint/Codegen/Kernel/CPUKernelClass.h"
#include "adjoint/Codegen/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Support/NumericOption.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-emit-cpu"

namespace mlir::ad {
#define GEN_PASS_DEF_EMITCPUPASS
#include "adjoint/Codegen/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
class EmitCPUPass : public ad::impl::EmitCPUPassBase<EmitCPUPass> {
public:
  using EmitCPUPassBase::EmitCPUPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitCPUPassBase::getDependentDialects(registry);
    registerCPUKernelClasses(registry);
  }

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyVectorBytes(module, vectorWidth)) ||
        failed(requireStage(getOperation(), Stage::planned)))
      return signalPassFailure();
    std::optional<TileTable> table = findTiles(tiles, vectorWidth);
    if (!table) {
      emitError(module.getLoc(), "unknown table of tiles '") << tiles << "', expected large or small";
      return signalPassFailure();
    }
    CPUTarget target(vectorWidth / kLaneBytes, *table, dotProducts);
    for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
      if (failed(emit(kernel, target)))
        return signalPassFailure();
  }

  static LogicalResult emit(KernelOp kernel, const CPUTarget &target) {
    if (failed(normalizeKernel(kernel)))
      return failure();
    ChosenClass chosen = chooseKernelClass(kernel, target);
    if (!chosen.kernelClass)
      return failure();
    LDBG() << "@" << kernel.getSymName() << " has class " << chosen.kernelClass->getName();
    reportKernelClass(kernel, chosen, "ad-cpu");
    if (failed(static_cast<const CPUKernelClass *>(chosen.kernelClass)->emit(kernel, *chosen.plan, target)))
      return failure();
    kernel.erase();
    return success();
  }
};
} // namespace
