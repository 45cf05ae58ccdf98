// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The dialects, pipelines and interpreters that a tool gives to the runner, which depends on none of them.
#ifndef ADJOINT_RUNNER_SESSION_HOOKS_H
#define ADJOINT_RUNNER_SESSION_HOOKS_H

#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runner/Session/Tracer.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::ad::runner {

/// The options of pipelines. The cache key has all of them.
struct PipelineOptions {
  std::string entry;
  std::string numerics;       ///< MODE[,PERMISSION…]; empty: the module's own
  std::string precision;      ///< bf16, f16, f8, none or FILE.yaml; empty: the module's own
  std::string kernels;        ///< OP=NAME[,…]: named implementations
  std::string missingKernels; ///< OP:TYPE[,…]: what the target has no kernels for
  std::string target = "cpu"; ///< cpu or gpu: the kernel classes that named kernels may have
  bool optimize = true;       ///< false: the program is not simplified
  std::string fuse;           ///< the policy of ad-fuse
  std::string tiles;          ///< the tile table of ad-emit-cpu
  std::string tile;           ///< the option of ad-emit-gpu
  bool profile = false;       ///< kernels are timed
  bool trace = false;         ///< the host receives the results of all fusions
  std::string chip;           ///< of a GPU; empty: the choice of the target
  std::string cpu;            ///< by LLVM's name
  std::vector<std::string> cpuFeatures;
  int64_t vectorBytes = 16;      ///< of the CPU's widest vector register
  bool dotProducts = false;      ///< the CPU has AVX512_BF16 and AVX512_VNNI
  bool halfInstructions = false; ///< the CPU has F16C
};

/// The functions of the tool. A null function means that this build lacks the feature.
struct Hooks {
  /// All dialects that programs may use.
  void (*registerDialects)(mlir::DialectRegistry &) = nullptr;
  /// From the source program to `ad` operations that the reference interpreter executes.
  void (*buildReferencePipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// From the source program to the optimised program in `ad`, which --dump-optimized writes.
  void (*buildOptimizePipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// From there to the LLVM dialect. The entry is `adrt_entry_<name>`, and the attribute `ad.kernel_names` of
  /// the module has the names of kernels.
  void (*buildCpuPipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// The same for the emulated GPU: `ad.kernel_names` has all kernels by number, and `adsim_code_<kernel>` is
  /// the code of each.
  void (*buildGpuSimPipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// The same for GPUs: the kernels are a `gpu.binary` with one object.
  void (*buildCudaPipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// The reference interpreter for a module that outlives it.
  std::unique_ptr<Executable> (*makeReference)(mlir::ModuleOp, llvm::StringRef entry) = nullptr;
  /// Records the values of a run for --trace; gets the text of the program.
  std::unique_ptr<Tracer> (*makeTracer)(const Options &, llvm::StringRef program) = nullptr;
  /// Lists the rewrites of passes that run in the context from now on. `list` has rewrites, one per line: the
  /// only ones that are applied, or, without `only`, those that are not.
  llvm::Error (*controlRewrites)(mlir::MLIRContext *, llvm::StringRef list, bool only) = nullptr;
  /// The rewrites that were applied since then, one per line.
  std::string (*listRewrites)(mlir::MLIRContext *) = nullptr;
  /// Finds out which pass applies each of them.
  std::unique_ptr<mlir::PassInstrumentation> (*observeRewrites)() = nullptr;
  /// Uses of numerics permissions by the passes that ran in a context, as a JSON array.
  llvm::json::Value (*numericsReport)(mlir::MLIRContext *) = nullptr;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_SESSION_HOOKS_H
