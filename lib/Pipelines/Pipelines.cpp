// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The named pipelines, stage by stage:
//
// - 0: Programs of linalg and tensor become programs of ad. What no target runs is refused. The contract
// becomes explicit once, so that no later pass depends on the position of an operation. From here on each
// pass writes the contract of the operations that it makes.
// - 1: Mixed precision becomes casts, which derivatives follow.
// - 2: Derivatives are made before anything else is rewritten: rules see the program as written. Calls are
// inlined, since memory is planned for one function, the host program of an entry. Then operations get the
// implementations that the user names, and casts where the target has no kernel.
// - 3: A version for sizes that are equal at run time. Simplification, then decomposition into operations
// with a lowering, and simplification of these. Casts move to the kernels that write their operands.
// - 4: For CPUs, narrow operands of contractions are converted before their kernels; for GPUs, contractions
// with few tiles are split along K. Conditions on sizes and indices come before fusion moves operations, and
// before scatters for GPUs sort their updates; then fusions and their kernel classes.
// - 5: linalg inside fusions, kernels outside the host program, a buffer for every tensor.
// - 6: Code of kernels before the host program, which reads the shape of each kernel's range; then LLVM.
// - 7: For GPUs only: code of a chip from the module of kernels.
//
// Code ends without attributes of `ad`, so that tools of upstream read it. For other compilers there is a
// pipeline beside stages 4 to 7: linalg in dialects of upstream alone.

#include "adjoint/Pipelines/Pipelines.h"
#include "adjoint/Codegen/Kernel/CPUKernelClass.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"
#include "adjoint/Codegen/Passes.h"
#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ad;

static void addSetNumerics(OpPassManager &pm, const SharedOptions &options) {
  SetNumericsPassOptions numerics;
  numerics.numerics = options.numerics;
  pm.addPass(createSetNumericsPass(numerics));
}

static void addAutocast(OpPassManager &pm, const SharedOptions &options) {
  AutocastPassOptions autocast;
  autocast.policy = options.precision;
  pm.addPass(createAutocastPass(autocast));
}

// After derivatives, which are those of the written operations.
static void addNamedKernels(OpPassManager &pm, const SharedOptions &options) {
  ExchangeKernelsPassOptions exchange;
  exchange.kernels = options.kernels;
  pm.addPass(createExchangeKernelsPass(exchange));
}

void ad::buildImportPipeline(OpPassManager &pm) { pm.addPass(createImportLinalgPass()); }

void ad::buildAdFrontendPipeline(OpPassManager &pm, const SharedOptions &options, StringRef target) {
  pm.addPass(createKeepFuseGroupsPass());
  buildImportPipeline(pm);
  pm.addPass(createVerifyProgramPass());
  addSetNumerics(pm, options);
  addAutocast(pm, options);
  pm.addPass(createDifferentiatePass());
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  addNamedKernels(pm, options);
  InsertPrecisionFreeCastsPassOptions casts;
  casts.missing = options.missingKernels;
  pm.addPass(createInsertPrecisionFreeCastsPass(casts));
  if (options.optimize) {
    pm.addNestedPass<func::FuncOp>(createSpecializeSizesPass());
    pm.addPass(createSimplifyPass());
  }
  DecomposePassOptions decompose;
  decompose.target = target.str();
  pm.addPass(createDecomposePass(decompose));
  if (options.optimize)
    pm.addPass(createSimplifyPass());
  pm.addPass(createWriteBroadcastsPass());
  if (options.optimize)
    pm.addPass(createPlaceCastsPass());
  pm.addPass(createVerifyNumericsPass());
  pm.addPass(createVerifyAutocastPass());
  pm.addPass(createVerifyDifferentiatedPass());
}

void ad::buildAdReferencePipeline(OpPassManager &pm, const SharedOptions &options) {
  buildImportPipeline(pm);
  pm.addPass(createVerifyProgramPass());
  addSetNumerics(pm, options);
  addAutocast(pm, options);
  pm.addPass(createDifferentiatePass());
  pm.addPass(createSymbolDCEPass()); // a named kernel is for an operation that runs, as on other targets
  addNamedKernels(pm, options);
}

// The contract of the frontend. Without it, operations would be fused that later stages cannot lower.
static void addFusionInputChecks(OpPassManager &pm) {
  pm.addPass(createVerifyNumericsPass());
  pm.addPass(createVerifyAutocastPass());
  pm.addPass(createVerifyDifferentiatedPass());
}

// Of contractions on GPUs (ContractionTiles.cpp).
static constexpr int64_t kSmallestTileRows = 64;

static void addFusion(OpPassManager &pm, const SharedOptions &options, StringRef target,
                      FusePassOptions fuse = {}) {
  pm.addNestedPass<func::FuncOp>(createInsertShapeChecksPass());
  if (options.optimize && target == "gpu")
    pm.addPass(createSortScattersPass());
  fuse.policy = options.fuse;
  fuse.target = target.str();
  pm.addPass(createFusePass(fuse));
  SelectKernelsPassOptions select;
  select.target = target.str();
  pm.addPass(createSelectKernelsPass(select));
  pm.addPass(createVerifyFusedPass());
  if (options.trace)
    pm.addPass(createInsertTracePass());
}

void ad::buildAdFusionPipeline(OpPassManager &pm, const AdToCpuOptions &options) {
  addFusionInputChecks(pm);
  if (options.optimize) {
    WidenOperandsPassOptions widen;
    widen.dotProducts = options.dotProducts;
    pm.addPass(createWidenOperandsPass(widen));
    pm.addPass(createPlaceCastsPass());
  }
  addFusion(pm, options, "cpu");
}

void ad::buildAdGpuFusionPipeline(OpPassManager &pm, const SharedOptions &options) {
  addFusionInputChecks(pm);
  if (options.optimize)
    pm.addPass(createSplitKPass());
  pm.addPass(createChooseInstructionsPass());
  FusePassOptions fuse;
  fuse.maxConvertedRows = kSmallestTileRows;
  addFusion(pm, options, "gpu", fuse);
}

static void addMemoryPlan(OpPassManager &pm, const SharedOptions &options) {
  PlanMemoryPassOptions plan;
  plan.pictureFile = options.memoryPicture;
  pm.addPass(createPlanMemoryPass(plan));
}

void ad::buildAdKernelPipeline(OpPassManager &pm, const AdToCpuOptions &options) {
  pm.addNestedPass<func::FuncOp>(createConvertADToLinalgPass());
  pm.addPass(createVerifyLinalgPass());
  if (options.optimize) {
    PrepackOperandsPassOptions prepack;
    prepack.vectorWidth = options.vectorBytes;
    prepack.dotProducts = options.dotProducts;
    prepack.tiles = options.tiles;
    pm.addNestedPass<func::FuncOp>(createPrepackOperandsPass(prepack));
  }
  pm.addPass(createOutlineKernelsPass());
  addMemoryPlan(pm, options);
}

// Before locations become data.
static void addPathMap(OpPassManager &pm, const SharedOptions &options) {
  if (options.pathPrefixMap.empty())
    return;
  MapPathsPassOptions map;
  map.prefix = options.pathPrefixMap;
  pm.addPass(createMapPathsPass(map));
}

void ad::buildCpuCodePipeline(OpPassManager &pm, const AdToCpuOptions &options) {
  EmitCPUPassOptions emit;
  emit.vectorWidth = options.vectorBytes;
  emit.tiles = options.tiles;
  emit.dotProducts = options.dotProducts;
  pm.addPass(createEmitCPUPass(emit));
  addPathMap(pm, options);
  ConvertHostToLLVMPassOptions host;
  host.profile = options.profile;
  pm.addPass(createConvertHostToLLVMPass(host));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  ExpandScalarOpsPassOptions expand;
  expand.halfInstructions = options.halfInstructions;
  functions.addPass(createExpandScalarOpsPass(expand));
  functions.addPass(createCSEPass());
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(createLowerGuardsPass());
  pm.addPass(createLowerToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createStripAttributesPass());
}

void ad::buildAdGpuKernelPipeline(OpPassManager &pm, const AdToGpuOptions &options) {
  pm.addNestedPass<func::FuncOp>(createConvertADToLinalgPass());
  pm.addPass(createVerifyLinalgPass());
  pm.addPass(createOutlineKernelsPass());
  addMemoryPlan(pm, options);
}

void ad::buildGpuCodePipeline(OpPassManager &pm, const AdToGpuOptions &options) {
  EmitGPUPassOptions emit;
  emit.chip = options.chip;
  emit.tile = options.tile;
  pm.addPass(createEmitGPUPass(emit));
  addPathMap(pm, options);
  ConvertHostToLLVMPassOptions host;
  host.profile = options.profile;
  host.device = true;
  pm.addPass(createConvertHostToLLVMPass(host));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createExpandScalarOpsPass());
  functions.addPass(createCSEPass());
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(createLowerGuardsPass());
  OpPassManager &modules = pm.nest<::mlir::gpu::GPUModuleOp>();
  OpPassManager &kernels = modules.nest<::mlir::gpu::GPUFuncOp>();
  ExpandScalarOpsPassOptions expand;
  expand.remainders = true;
  expand.halfInstructions = true; // all chips have cvt.rn for f16 and bf16
  expand.bfloatInstructions = true;
  expand.bytesByHalf = true;
  kernels.addPass(createExpandScalarOpsPass(expand));
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  modules.addPass(createLowerToNVVMPass());
  pm.addPass(createLowerToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createStripAttributesPass());
}

void ad::buildGpuBinaryPipeline(OpPassManager &pm, const AdToGpuOptions &options) {
  // Instructions that only assembly text has; the emulator executes them as operations.
  pm.addNestedPass<::mlir::gpu::GPUModuleOp>(createConvertNVVMToLLVMPass());
  SerializeKernelsPassOptions serialize;
  serialize.chip = options.chip;
  serialize.format = options.format;
  serialize.codeFor.assign(options.codeFor.begin(), options.codeFor.end());
  pm.addPass(createSerializeKernelsPass(serialize));
}

void ad::buildAdToGpuPipeline(OpPassManager &pm, const AdToGpuOptions &options) {
  buildAdFrontendPipeline(pm, options, "gpu");
  buildAdGpuFusionPipeline(pm, options);
  buildAdGpuKernelPipeline(pm, options);
  buildGpuCodePipeline(pm, options);
  buildGpuBinaryPipeline(pm, options);
}

void ad::buildAdToLinalgPipeline(OpPassManager &pm, const AdToCpuOptions &options) {
  buildAdFrontendPipeline(pm, options);
  buildAdFusionPipeline(pm, options);
  pm.addNestedPass<func::FuncOp>(createConvertADToLinalgPass());
  pm.addPass(createVerifyLinalgPass());
}

void ad::buildAdToPlainLinalgPipeline(OpPassManager &pm, const SharedOptions &options) {
  // No target, so that named kernels become the operations that they consist of.
  buildAdFrontendPipeline(pm, options, /*target=*/"");
  addFusionInputChecks(pm);
  pm.addNestedPass<func::FuncOp>(createInsertShapeChecksPass());
  FusePassOptions fuse;
  fuse.policy = "single"; // the fusions are inlined: a larger one would compute shared values several times
  pm.addPass(createFusePass(fuse));
  pm.addNestedPass<func::FuncOp>(createConvertADToLinalgPass());
  pm.addPass(createVerifyLinalgPass());
  addPathMap(pm, options);
  pm.addPass(createConvertADToPlainPass());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createExpandScalarOpsPass());
  functions.addPass(createCSEPass());
  pm.addPass(createStripAttributesPass());
  pm.addPass(createVerifyPlainPass());
}

void ad::buildAdToCpuPipeline(OpPassManager &pm, const AdToCpuOptions &options) {
  buildAdFrontendPipeline(pm, options);
  buildAdFusionPipeline(pm, options);
  buildAdKernelPipeline(pm, options);
  buildCpuCodePipeline(pm, options);
}

void ad::registerKernelClasses(DialectRegistry &registry) {
  registerCPUKernelClasses(registry);
  registerGPUKernelClasses(registry);
}

namespace {
// Registers a pipeline of passes on modules. MLIR would end the process where it is nested in another
// operation.
template <typename Options> struct ModulePipeline {
  ModulePipeline(StringRef name, StringRef description,
                 std::function<void(OpPassManager &, const Options &)> build) {
    auto add = [build, name = name.str()](OpPassManager &pm, StringRef text,
                                          function_ref<LogicalResult(const Twine &)> refuse) {
      StringRef anchor = pm.getOpAnchorName();
      if (anchor != ModuleOp::getOperationName() && anchor != OpPassManager::getAnyOpAnchorName())
        return refuse(name + " is for builtin.module, and cannot be nested in " + anchor);
      Options options;
      if (failed(options.parseFromString(text)))
        return failure();
      build(pm, options);
      return success();
    };
    registerPassPipeline(
        name, description, add,
        [](function_ref<void(const ::mlir::detail::PassOptions &)> show) { show(Options()); });
  }
};
} // namespace

void ad::registerPipelines() {
  using Registration = ModulePipeline<AdToCpuOptions>;
  Registration("ad-to-linalg", "From the ad dialect to linalg on tensors inside fusions",
               buildAdToLinalgPipeline);
  ModulePipeline<AdToPlainLinalgOptions>(
      "ad-to-plain-linalg", "From the ad dialect to linalg, tensor, scf and arith, with nothing of ad left",
      buildAdToPlainLinalgPipeline);
  Registration("ad-to-cpu", "From the ad dialect to the LLVM dialect for the CPU", buildAdToCpuPipeline);
  Registration(
      "ad-to-cpu-frontend",
      "Stages 0 to 3 of ad-to-cpu: numerics, mixed precision, derivatives, decomposition",
      [](OpPassManager &pm, const AdToCpuOptions &options) { buildAdFrontendPipeline(pm, options); });
  Registration("ad-to-cpu-fusion",
               "Stage 4 of ad-to-cpu: wide operands, run-time conditions, fusions, kernel classes",
               buildAdFusionPipeline);
  Registration("ad-to-cpu-kernels", "Stage 5 of ad-to-cpu: linalg, kernels, memory", buildAdKernelPipeline);
  Registration("ad-to-cpu-code", "Stage 6 of ad-to-cpu: code in the LLVM dialect", buildCpuCodePipeline);
  using GpuRegistration = ModulePipeline<AdToGpuOptions>;
  GpuRegistration("ad-to-gpu", "From the ad dialect to code of a GPU and a host program in the LLVM dialect",
                  buildAdToGpuPipeline);
  GpuRegistration(
      "ad-to-gpu-frontend",
      "Stages 0 to 3 of ad-to-gpu: those of ad-to-cpu, but named kernels that a class for GPUs covers stay "
      "whole",
      [](OpPassManager &pm, const AdToGpuOptions &options) { buildAdFrontendPipeline(pm, options, "gpu"); });
  GpuRegistration("ad-to-gpu-fusion",
                  "Stage 4 of ad-to-gpu: contractions split, conditions, fusions, kernel classes",
                  buildAdGpuFusionPipeline);
  GpuRegistration("ad-to-gpu-kernels", "Stage 5 of ad-to-gpu: linalg, kernels, memory",
                  buildAdGpuKernelPipeline);
  GpuRegistration("ad-to-gpu-code", "Stage 6 of ad-to-gpu: the LLVM and NVVM dialects", buildGpuCodePipeline);
  GpuRegistration("ad-to-gpu-binary", "Stage 7 of ad-to-gpu: code of a chip", buildGpuBinaryPipeline);
}
