// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-select-kernels`: gives every fusion the class of its kernel.

#include "adjoint/Codegen/Kernel/CPUKernelClass.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"
#include "adjoint/Codegen/Passes.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernelOps.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-select-kernels"

namespace mlir::ad {
#define GEN_PASS_DEF_SELECTKERNELSPASS
#include "adjoint/Codegen/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
struct SelectKernelsPass : ad::impl::SelectKernelsPassBase<SelectKernelsPass> {
  using SelectKernelsPassBase::SelectKernelsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SelectKernelsPassBase::getDependentDialects(registry);
    registerCPUKernelClasses(registry);
    registerGPUKernelClasses(registry);
  }

  // A class of another compiler may refuse a kernel that it covers; one of Adjoint's then makes the code.
  static void setClasses(FusionOp fusion, ArrayRef<const KernelClass *> covering) {
    fusion.setKernel(covering.front()->getName());
    SmallVector<StringRef> others;
    for (const KernelClass *other : covering.drop_front())
      if (other->getName() != kGenericClass)
        others.push_back(other->getName());
    if (covering.front()->getBenefit() > kHighestOwnBenefit && !others.empty())
      fusion->setAttr(kOtherClassesAttr, Builder(fusion.getContext()).getStrArrayAttr(others));
  }

  void runOnOperation() override {
    std::optional<TargetKind> kind = findTargetKind(target);
    if (!kind) {
      emitError(getOperation()->getLoc(), "unknown target '") << target << "', expected cpu or gpu";
      return signalPassFailure();
    }
    // Operations outside of a fusion would get no class.
    if (failed(requireStage(getOperation(), Stage::fused)))
      return signalPassFailure();
    const KernelClassRegistry *classes = KernelClassRegistry::get(&getContext());
    getOperation()->walk([&](FusionOp fusion) {
      if (!fusion.getKernel())
        setClasses(fusion, classes->classesOf(fusion, *kind));
      if (NamedKernelOpInterface named = namedKernelIn(fusion);
          named && *fusion.getKernel() == kGenericClass) {
        named->emitOpError("has no kernel class for target ")
            << target << "; run ad-decompose with this target first";
        signalPassFailure();
      }
      LDBG() << "ad.fusion " << stringifyFusionKind(fusion.getKind()) << " at " << fusion.getLoc()
             << " has class " << *fusion.getKernel();
    });
  }
};
} // namespace
