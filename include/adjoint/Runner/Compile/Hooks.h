// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The dialects, pipelines and interpreter that programs are compiled and run with, in every mode: runs,
// traces, replays and analyses. An embedder with operations of its own extends them.
#ifndef ADJOINT_RUNNER_COMPILE_HOOKS_H
#define ADJOINT_RUNNER_COMPILE_HOOKS_H

#include "adjoint/Runner/Executable/Executable.h"
#include "mlir/IR/BuiltinOps.h"
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
  std::string pathPrefixMap;  ///< OLD=NEW: names of files in the code
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

/// None is null: who changes one begins with a copy of standardHooks().
struct Hooks {
  /// All dialects that programs may use.
  void (*registerDialects)(mlir::DialectRegistry &);
  /// From the written program to one whose entry has tensors of `ad`, before its signature is read.
  void (*buildImportPipeline)(mlir::OpPassManager &);
  /// From the source program to `ad` operations that the reference interpreter executes.
  void (*buildReferencePipeline)(mlir::OpPassManager &, const PipelineOptions &);
  /// From the source program to the optimised program in `ad`, which --dump-optimized writes.
  void (*buildOptimizePipeline)(mlir::OpPassManager &, const PipelineOptions &);
  /// From there to the LLVM dialect. The entry is `adrt_entry_<name>`, and the attribute `adrt.kernel_names`
  /// of the module has the names of kernels.
  void (*buildCpuPipeline)(mlir::OpPassManager &, const PipelineOptions &);
  /// The same for the emulated GPU: `adrt.kernel_names` has all kernels by number, and `adsim_code_<kernel>`
  /// is the code of each.
  void (*buildGpuSimPipeline)(mlir::OpPassManager &, const PipelineOptions &);
  /// The same for GPUs: the kernels are a `gpu.binary` with one object.
  void (*buildCudaPipeline)(mlir::OpPassManager &, const PipelineOptions &);
  /// The reference interpreter for a module that outlives it.
  std::unique_ptr<Executable> (*makeReference)(mlir::ModuleOp, llvm::StringRef entry);
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_COMPILE_HOOKS_H
