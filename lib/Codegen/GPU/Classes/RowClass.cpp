// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../Row/RowEmitter.h"
#include "Classes.h"
#include "EmitterClass.h"
#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
struct RowPlan : KernelPlan {
  RowPlan(const Rows &rows, bool blockPerRow) : rows(rows), blockPerRow(blockPerRow) {}
  SmallVector<Fact> facts() const override {
    return {{"length", std::to_string(rows.length)}, {"row", blockPerRow ? "block" : "group"}};
  }
  Rows rows;
  bool blockPerRow; // otherwise a group of threads has a row
};

class RowClass : public EmitterClass {
public:
  RowClass() : EmitterClass(kRowClass, /*benefit=*/3) {}

  bool covers(FusionOp fusion) const override { return isRowCluster(fusion); }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &,
                                         std::string &reason) const override {
    std::optional<Rows> rows = matchRows(kernel, reason);
    return rows ? std::make_unique<RowPlan>(*rows, usesBlockPerRow(kernel, *rows)) : nullptr;
  }

private:
  static const RowPlan &planOf(const KernelPlan &plan) { return static_cast<const RowPlan &>(plan); }

  Emitter emitterFor(GPUFunctions &functions, ::mlir::gpu::GPUFuncOp function,
                     const KernelPlan &plan) const override {
    return std::make_unique<RowEmitter>(functions.kernel, function, planOf(plan).rows,
                                        functions.target.chip.sharedBytes);
  }
  std::optional<Division> divisionOf(KernelOp kernel, const KernelPlan &plan) const override {
    return matchDivision(kernel, planOf(plan).blockPerRow);
  }
  Emitter nodeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                      const KernelPlan &plan) const override {
    return std::make_unique<RowEmitter>(kernel, function, planOf(plan).rows, /*maxSharedBytes=*/0);
  }
};
} // namespace

void device::registerRowClass(DialectRegistry &registry) { registerKernelClass<RowClass>(registry); }
