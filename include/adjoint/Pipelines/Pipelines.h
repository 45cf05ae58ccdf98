// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The named pipelines. Each stage is a function of its own, so that embedders can stop between two of them.

#ifndef ADJOINT_PIPELINES_PIPELINES_H
#define ADJOINT_PIPELINES_PIPELINES_H

#include "adjoint/Dialect/AD/Transforms/FusePolicies.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::ad {

/// Options of the stages that all targets share.
struct SharedOptions : virtual ::mlir::detail::PassOptions {
  Option<std::string> numerics{*this, "numerics",
                               llvm::cl::desc("MODE[,PERMISSION...] instead of the module's ad.numerics: "
                                              "reproducible, strict or fast, then permissions"),
                               llvm::cl::init("")};
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc(
          "bf16, f16, f8, none or FILE.yaml instead of the module's ad.precision: the policy of ad-autocast"),
      llvm::cl::init("")};
  Option<std::string> kernels{
      *this, "kernels",
      llvm::cl::desc(
          "OP=NAME[,OP=NAME...]: implementations of operations, the option of ad-exchange-kernels"),
      llvm::cl::init("")};
  Option<std::string> missingKernels{
      *this, "missing-kernels",
      llvm::cl::desc("OP:TYPE[,OP:TYPE...]: kernels that the target lacks, the option of "
                     "ad-insert-precision-free-casts"),
      llvm::cl::init("")};
  Option<bool> optimize{
      *this, "optimize",
      llvm::cl::desc("Simplify and merge operations; off leaves the program as it is written"),
      llvm::cl::init(true)};
  Option<std::string> fuse{*this, "fuse", llvm::cl::desc(fusePolicyHelp()), llvm::cl::init("grow")};
  Option<std::string> pathPrefixMap{
      *this, "path-prefix-map",
      llvm::cl::desc("OLD=NEW for names of files in compiled code, the option of ad-map-paths"),
      llvm::cl::init("")};
  Option<bool> profile{*this, "profile", llvm::cl::desc("Time each kernel"), llvm::cl::init(false)};
  Option<std::string> memoryPicture{
      *this, "memory-picture", llvm::cl::desc("FILE.svg for the memory plan, the option of ad-plan-memory"),
      llvm::cl::init("")};
  Option<bool> trace{*this, "trace", llvm::cl::desc("Pass the results of every fusion to the host"),
                     llvm::cl::init(false)};
};

/// Options of `--ad-to-linalg` and `--ad-to-cpu`.
struct AdToCpuOptions : SharedOptions, PassPipelineOptions<AdToCpuOptions> {
  Option<int64_t> vectorBytes{*this, "vector-bytes", llvm::cl::desc("Bytes of a vector register"),
                              llvm::cl::init(64)};
  Option<bool> dotProducts{*this, "dot-products",
                           llvm::cl::desc("The processor multiplies and adds pairs of bf16 (AVX512_BF16) and "
                                          "groups of four i8 (AVX512_VNNI)"),
                           llvm::cl::init(false)};
  Option<bool> halfInstructions{*this, "half-instructions",
                                llvm::cl::desc("The processor converts between f16 and f32 (F16C)"),
                                llvm::cl::init(false)};
  Option<std::string> tiles{*this, "tiles", llvm::cl::desc("The tile table of ad-emit-cpu: large or small"),
                            llvm::cl::init("large")};
};

/// Options of `--ad-to-plain-linalg`.
struct AdToPlainLinalgOptions : SharedOptions, PassPipelineOptions<AdToPlainLinalgOptions> {};

/// Options of `--ad-to-gpu`.
struct AdToGpuOptions : SharedOptions, PassPipelineOptions<AdToGpuOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100: what code may use"),
                           llvm::cl::init("sm_80")};
  Option<std::string> tile{*this, "tile", llvm::cl::desc("The option of ad-emit-gpu, for tests"),
                           llvm::cl::init("")};
  Option<std::string> format{*this, "format",
                             llvm::cl::desc("isa is PTX, bin the code of the chip alone, fatbin both"),
                             llvm::cl::init("isa")};
  ListOption<std::string> codeFor{
      *this, "code-for",
      llvm::cl::desc("The chips whose code a fat binary has next to the PTX (default: the chip alone)")};
};

/// Programs of upstream's dialects become programs of `ad`; others stay as they are. The two pipelines below
/// begin with it, and who needs the signature of the entry before them runs it on its own.
void buildImportPipeline(OpPassManager &pm);

/// Stages 0 to 3: numerics explicit, mixed precision, derivatives made, calls inlined, simplified,
/// decomposed. `target`, cpu or gpu, says which named kernels stay whole.
void buildAdFrontendPipeline(OpPassManager &pm, const SharedOptions &options, StringRef target = "cpu");
/// What the reference interpreter runs: the written operations, with numerics and casts explicit and
/// derivatives made.
void buildAdReferencePipeline(OpPassManager &pm, const SharedOptions &options);
/// Stage 4: narrow operands of contractions converted, run-time conditions, fusions, kernel classes.
void buildAdFusionPipeline(OpPassManager &pm, const AdToCpuOptions &options);
/// Stage 5: linalg, kernels, memory.
void buildAdKernelPipeline(OpPassManager &pm, const AdToCpuOptions &options);
/// Stage 6: code for the CPU in the LLVM dialect.
void buildCpuCodePipeline(OpPassManager &pm, const AdToCpuOptions &options);

/// Stage 4 for GPUs: before, contractions with small results are split.
void buildAdGpuFusionPipeline(OpPassManager &pm, const SharedOptions &options);
/// Stage 5 for GPUs, where no operand is packed before its kernel.
void buildAdGpuKernelPipeline(OpPassManager &pm, const AdToGpuOptions &options);
/// Stage 6 for GPUs: kernels in the LLVM and NVVM dialects inside a `gpu.module`, around them the host
/// program in the LLVM dialect.
void buildGpuCodePipeline(OpPassManager &pm, const AdToGpuOptions &options);
/// Stage 7 for GPUs: the kernels become code of the chip, a `gpu.binary`.
void buildGpuBinaryPipeline(OpPassManager &pm, const AdToGpuOptions &options);

/// Stages 0 to linalg on tensors.
void buildAdToLinalgPipeline(OpPassManager &pm, const AdToCpuOptions &options);
/// Stages 0 to 3, then linalg, tensor, scf and arith: nothing of `ad` is left, and orders of sums are code.
void buildAdToPlainLinalgPipeline(OpPassManager &pm, const SharedOptions &options);
/// All stages: from the `ad` dialect to the LLVM dialect, with entries `adrt_entry_<name>`.
void buildAdToCpuPipeline(OpPassManager &pm, const AdToCpuOptions &options);

/// The same for a GPU, whose kernels end as a `gpu.binary`.
void buildAdToGpuPipeline(OpPassManager &pm, const AdToGpuOptions &options);

/// Registers the pipelines by name.
void registerPipelines();

/// Registers Adjoint's kernel classes of all targets. `ad-decompose` asks which operations they cover, before
/// the passes that emit code are made.
void registerKernelClasses(DialectRegistry &registry);

} // namespace mlir::ad

#endif // ADJOINT_PIPELINES_PIPELINES_H
