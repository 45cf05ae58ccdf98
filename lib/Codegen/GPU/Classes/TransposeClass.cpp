// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../Transpose/TransposeEmitter.h"
#include "Classes.h"
#include "EmitterClass.h"
#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
struct TransposePlan : KernelPlan {
  explicit TransposePlan(const Transposition &transposition) : transposition(transposition) {}
  SmallVector<Fact> facts() const override {
    return {{"read-axis", std::to_string(transposition.readAxis)},
            {"write-axis", std::to_string(transposition.writeAxis)}};
  }
  Transposition transposition;
};

class TransposeClass : public EmitterClass {
public:
  TransposeClass() : EmitterClass(kTranspositionClass, /*benefit=*/1) {}

  bool covers(FusionOp fusion) const override { return isTransposition(fusion); }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &,
                                         std::string &reason) const override {
    std::optional<Transposition> moved = matchTransposition(kernel, reason);
    return moved ? std::make_unique<TransposePlan>(*moved) : nullptr;
  }

private:
  Emitter emitterFor(GPUFunctions &functions, ::mlir::gpu::GPUFuncOp function,
                     const KernelPlan &plan) const override {
    return std::make_unique<TransposeEmitter>(functions.kernel, function,
                                              static_cast<const TransposePlan &>(plan).transposition);
  }
};
} // namespace

void device::registerTransposeClass(DialectRegistry &registry) {
  registerKernelClass<TransposeClass>(registry);
}
