// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SortClass.h"
#include "SortEmitter.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Codegen/Kernel/SortedRuns.h"
#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using ::mlir::gpu::GPUFuncOp;

// Threads of an SM for whose registers there is room. Code for open lengths needs more of them.
static constexpr int64_t kThreadsPerSM = 1024, kOpenThreadsPerSM = 512;

namespace {
struct SortPlan : KernelPlan {
  explicit SortPlan(ArgsortOp sort) : shape(sort) {}
  SmallVector<Fact> facts() const override {
    return {{"tile", std::to_string(shape.tile)}, {"merges", shape.mayMerge() ? "yes" : "no"}};
  }
  SortShape shape;
};
} // namespace

bool SortClass::covers(FusionOp fusion) const {
  if (!isSort(fusion))
    return false;
  auto sort = cast<ArgsortOp>(fusion.getBody().front().front());
  int64_t length = sort.getInput().getType().getShape().back();
  return ShapedType::isDynamic(length) || length < kFirstTooLong;
}

std::unique_ptr<KernelPlan> SortClass::matchOnGPU(KernelOp kernel, const GPUTarget &, std::string &) const {
  return std::make_unique<SortPlan>(cast<ArgsortOp>(kernel.getBody().front().front()));
}

LogicalResult SortClass::emit(GPUFunctions &functions, const KernelPlan &plan) const {
  const SortShape &shape = static_cast<const SortPlan &>(plan).shape;
  int64_t threadsPerSM = ShapedType::isDynamic(shape.length()) ? kOpenThreadsPerSM : kThreadsPerSM;
  auto define = [&](StringRef suffix, TypeRange more, const LaunchShape &launch, ItemForm form,
                    void (SortEmitter::*emitBody)()) {
    GPUFuncOp function = functions.define(suffix, more);
    (SortEmitter(function, shape, form).*emitBody)();
    functions.finish(function, launch, {std::max<int64_t>(threadsPerSM / launch.threadsPerBlock, 1)},
                     getName());
    functions.declare(function, launch);
  };
  ItemForm inTile = ItemForm::inTile(shape.element), inRuns = ItemForm::inRuns(shape.element);
  if (!shape.mayMerge()) {
    define("", {}, shape.tilesLaunch(), inTile, &SortEmitter::emitTiles);
    return success();
  }
  KernelOp kernel = functions.kernel;
  Type index = IndexType::get(kernel.getContext());
  Type more[] = {LLVM::LLVMPointerType::get(kernel.getContext()), index};
  define(kSortTilesSuffix, more, shape.tilesLaunch(), inTile, &SortEmitter::emitTiles);
  define(kMergeRunsSuffix, more, shape.mergeLaunch(), inRuns, &SortEmitter::emitMerge);
  emitRunSizes(defineHostFunction(kernel, kRunSizesSuffix, {}, {index, index}), shape);
  functions.declareDivided(shape.tilesLaunch())->setAttr(kSortedRunsAttr, UnitAttr::get(kernel.getContext()));
  return success();
}
