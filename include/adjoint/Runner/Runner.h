// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// `ad-runner` as a function. The tool's main says which dialects, pipelines and back ends exist; the runner
// itself depends on none of them.
#ifndef ADJOINT_RUNNER_RUNNER_H
#define ADJOINT_RUNNER_RUNNER_H

#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runner/Session/Executable.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::ad::runner {

/// What a pipeline may depend on. All of it is part of the cache's key.
struct PipelineOptions {
  std::string entry;
  std::string numerics; ///< MODE[,PERMISSION…]; empty: the module's own
  bool optimize = true; ///< false: the program is not simplified
  std::string fuse;     ///< the policy of ad-fuse
  std::string tiles;    ///< the tile table of ad-emit-cpu
  std::string tile;     ///< the option of ad-emit-gpu
  bool profile = false; ///< kernels are timed
  std::string chip;     ///< of a GPU; empty: the target's own choice
  std::string cpu;      ///< as LLVM names it
  std::vector<std::string> cpuFeatures;
  int64_t vectorBytes = 16;      ///< of the CPU's widest vector register
  bool dotProducts = false;      ///< the CPU has AVX512_BF16 and AVX512_VNNI
  bool halfInstructions = false; ///< the CPU has F16C
};

/// What the tool brings. A null function means that this build lacks the part.
struct Hooks {
  /// All dialects that programs may use.
  void (*registerDialects)(mlir::DialectRegistry &) = nullptr;
  /// From the written program to plain `ad` that the reference interpreter executes.
  void (*buildReferencePipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// From the written program to the optimised one in `ad`, which --dump-optimized writes; then from there to
  /// the LLVM dialect, with the entry as `adrt_entry_<name>` and the names of kernels in the module's
  /// `ad.kernel_names`.
  void (*buildOptimizePipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  void (*buildCpuPipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// The same for the emulated GPU: `ad.kernel_names` has all kernels by number, each with its code as
  /// `adsim_code_<kernel>`.
  void (*buildGpuSimPipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// The same for GPUs: the code of the kernels is a `gpu.binary` with one object.
  void (*buildCudaPipeline)(mlir::OpPassManager &, const PipelineOptions &) = nullptr;
  /// The reference interpreter for a module that outlives it.
  std::unique_ptr<Executable> (*makeReference)(mlir::ModuleOp, llvm::StringRef entry) = nullptr;
  /// Uses of numerics permissions by the passes that ran in a context, as a JSON array.
  llvm::json::Value (*numericsReport)(mlir::MLIRContext *) = nullptr;
};

/// The whole program; never leaves by exit() or abort() because of what a user wrote.
int runnerMain(int argc, char **argv, const Hooks &hooks);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_RUNNER_H
