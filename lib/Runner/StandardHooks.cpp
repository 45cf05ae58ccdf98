// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The dialects, pipelines and interpreters of this build.
#include "adjoint/Runner/StandardHooks.h"
#include "Executable/ReferenceExecutable.h"
#include "adjoint/Dialect/AD/Derivatives/Derivatives.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "adjoint/Emulator/Passes.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "adjoint/Runner/Compile/Hooks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ad;

// Dialects that programs use or that lowering produces. Registering all upstream dialects would take longer.
static void registerDialects(DialectRegistry &registry) {
  registry.insert<ADDialect, check::CheckDialect, affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect, func::FuncDialect,
                  ::mlir::gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
                  vector::VectorDialect>();
  registerDerivatives(registry);
  registerKernelClasses(registry);
  func::registerInlinerExtension(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
}

// Options of a pass pipeline cannot be copied, so each pipeline fills its own.
static void fill(SharedOptions &options, const runner::PipelineOptions &given) {
  options.numerics = given.numerics;
  options.precision = given.precision;
  options.kernels = given.kernels;
  options.missingKernels = given.missingKernels;
  options.pathPrefixMap = given.pathPrefixMap;
  options.optimize = given.optimize;
  options.fuse = given.fuse;
  options.profile = given.profile;
  options.trace = given.trace;
}

static void fill(AdToCpuOptions &options, const runner::PipelineOptions &given) {
  fill(static_cast<SharedOptions &>(options), given);
  options.tiles = given.tiles;
  options.vectorBytes = given.vectorBytes;
  options.dotProducts = given.dotProducts;
  options.halfInstructions = given.halfInstructions;
}

static void selectEntry(OpPassManager &pm, const runner::PipelineOptions &given) {
  pm.addPass(createSymbolDCEPass());
  VerifyEntryPassOptions options;
  options.entry = given.entry;
  pm.addPass(createVerifyEntryPass(options));
}

static void buildReferencePipeline(OpPassManager &pm, const runner::PipelineOptions &given) {
  AdToCpuOptions options;
  fill(options, given);
  selectEntry(pm, given);
  buildAdReferencePipeline(pm, options);
}

static void buildOptimizePipeline(OpPassManager &pm, const runner::PipelineOptions &given) {
  AdToCpuOptions options;
  fill(options, given);
  selectEntry(pm, given);
  buildAdFrontendPipeline(pm, options, given.target);
}

static void buildCpuPipeline(OpPassManager &pm, const runner::PipelineOptions &given) {
  AdToCpuOptions options;
  fill(options, given);
  buildAdFusionPipeline(pm, options);
  buildAdKernelPipeline(pm, options);
  buildCpuCodePipeline(pm, options);
}

static void fill(AdToGpuOptions &options, const runner::PipelineOptions &given) {
  fill(static_cast<SharedOptions &>(options), given);
  if (!given.chip.empty())
    options.chip = given.chip;
  options.tile = given.tile;
}

static void buildGpuPipeline(OpPassManager &pm, const runner::PipelineOptions &given,
                             AdToGpuOptions &options) {
  fill(options, given);
  buildAdGpuFusionPipeline(pm, options);
  buildAdGpuKernelPipeline(pm, options);
  buildGpuCodePipeline(pm, options);
}

// The emulator has the instructions of every chip. sm_90a has the most kernels that no other chip has.
static void buildGpuSimPipeline(OpPassManager &pm, const runner::PipelineOptions &given) {
  AdToGpuOptions options;
  options.chip = "sm_90a";
  buildGpuPipeline(pm, given, options);
  pm.addPass(createLowerToEmulatorPass());
}

// Without --chip, PTX for the oldest chip: the driver compiles it for the chip of the GPU.
static void buildCudaPipeline(OpPassManager &pm, const runner::PipelineOptions &given) {
  AdToGpuOptions options;
  buildGpuPipeline(pm, given, options);
  buildGpuBinaryPipeline(pm, options);
}

const runner::Hooks &runner::standardHooks() {
  static const Hooks hooks = {registerDialects,      ad::buildImportPipeline, buildReferencePipeline,
                              buildOptimizePipeline, buildCpuPipeline,        buildGpuSimPipeline,
                              buildCudaPipeline,     runner::makeReference};
  return hooks;
}
