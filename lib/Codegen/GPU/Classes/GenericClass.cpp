// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The class that covers every kernel: each thread computes an element, or a warp computes a row when the
// kernel sums over lanes. A value is computed where it is read.

#include "../Elementwise/ElementwiseEmitter.h"
#include "Classes.h"
#include "EmitterClass.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Whether the slice begins and ends at multiples of the longest vector.
static bool insertsVectors(tensor::InsertSliceOp insert) {
  RankedTensorType source = insert.getSourceType();
  int64_t axis = contiguousAxis(insert.getDestType().getShape());
  if (axis < 0 || source.getRank() != insert.getDestType().getRank())
    return false;
  int64_t length = kAccessBytes / memoryBytes(source.getElementType());
  std::optional<int64_t> offset = getConstantIntValue(insert.getMixedOffsets()[axis]);
  return offset && *offset % length == 0 && !source.isDynamicDim(axis) &&
         source.getDimSize(axis) % length == 0 && getConstantIntValue(insert.getMixedStrides()[axis]) == 1;
}

// Kernels without reductions, such as copies and insertions, can compute contiguous elements in a thread.
static bool canVectorize(KernelOp kernel) {
  return llvm::none_of(kernel.getBody().getOps<linalg::GenericOp>(), codegen::reduces) &&
         llvm::all_of(kernel.getBody().getOps<tensor::InsertSliceOp>(), insertsVectors);
}

namespace {
struct GenericPlan : KernelPlan {
  explicit GenericPlan(bool vectorizes) : vectorizes(vectorizes) {}
  SmallVector<Fact> facts() const override { return {{"vectors", vectorizes ? "yes" : "no"}}; }
  bool vectorizes;
};

class GenericClass : public EmitterClass {
public:
  GenericClass() : EmitterClass(kGenericClass, /*benefit=*/0) {}

  bool covers(FusionOp) const override { return true; }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &, std::string &) const override {
    return std::make_unique<GenericPlan>(canVectorize(kernel));
  }

  std::optional<KernelCost> cost(KernelOp kernel, const KernelPlan &) const override {
    return costOfKernel(kernel, /*recomputes=*/true);
  }

private:
  Emitter emitterFor(GPUFunctions &functions, ::mlir::gpu::GPUFuncOp function,
                     const KernelPlan &plan) const override {
    if (static_cast<const GenericPlan &>(plan).vectorizes)
      return std::make_unique<ElementwiseEmitter>(functions.kernel, function);
    return std::make_unique<GPUKernelEmitter>(functions.kernel, function);
  }
};
} // namespace

void device::registerGenericClass(DialectRegistry &registry) { registerKernelClass<GenericClass>(registry); }
