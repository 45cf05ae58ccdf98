// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../Elementwise/ElementwiseEmitter.h"
#include "Classes.h"
#include "EmitterClass.h"
#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
class ElementwiseClass : public EmitterClass {
public:
  ElementwiseClass() : EmitterClass(kElementwiseClass, /*benefit=*/4) {}

  bool covers(FusionOp fusion) const override { return isElementwiseCluster(fusion); }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp, const GPUTarget &, std::string &) const override {
    return std::make_unique<KernelPlan>();
  }

private:
  Emitter emitterFor(GPUFunctions &functions, ::mlir::gpu::GPUFuncOp function,
                     const KernelPlan &) const override {
    return std::make_unique<ElementwiseEmitter>(functions.kernel, function);
  }
};
} // namespace

void device::registerElementwiseClass(DialectRegistry &registry) {
  registerKernelClass<ElementwiseClass>(registry);
}
