// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From the bytes of a program file to something that runs. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_FRONTEND_H
#define ADJOINT_LIB_RUNNER_SESSION_FRONTEND_H

#include "../IO/Listener.h"
#include "GradientProgram.h"
#include "Interruption.h"
#include "adjoint/Runner/Cache/ObjectCache.h"
#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/Session/Compile.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"

#include <functional>

namespace mlir::ad::runner {

/// A program that is ready to run. What comes later in the list may refer to what comes earlier.
struct LoadedProgram {
  std::unique_ptr<llvm::ThreadPoolInterface> threads;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<llvm::SourceMgr> sources;
  std::shared_ptr<void> diagnostics; // for as long as passes may report
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Signature signature;
  llvm::json::Value numericsReport = nullptr;
  std::unique_ptr<Executable> executable;

  /// Gives the context a new pool, of as many threads as there are CPUs for this process. None starts
  /// before there is work; those of the pool before end.
  void renewThreads();
};

class Frontend {
public:
  /// Stops between passes and stages with ExitInterrupted once `interrupted` says so.
  Frontend(const Options &options, const Hooks &hooks, Report &report, Listener &listener,
           const std::function<bool()> &interrupted)
      : options(options), hooks(hooks), report(report), listener(listener), interruption(interrupted) {}

  /// For the cpu target from the cache if possible; else parsed, lowered and compiled.
  llvm::Expected<LoadedProgram> load(const llvm::MemoryBuffer &input);
  /// The program as written, with its signature and nothing to run.
  llvm::Expected<LoadedProgram> parse(const llvm::MemoryBuffer &input);

  /// The entry of a parsed program and the function of addGradientFunction, to be run by turns, on any
  /// target.
  llvm::Expected<std::unique_ptr<GradientRuns>> loadGradients(LoadedProgram &program);

  /// A program for `cpu` and a device, which may both be elsewhere: from the cache, or compiled and put
  /// there.
  llvm::Expected<CompiledProgram> compileOnce(const llvm::MemoryBuffer &input, const CpuTarget &cpu);

private:
  using PipelineBuilder = void (*)(mlir::OpPassManager &, const PipelineOptions &);

  llvm::Expected<LoadedProgram> loadReference(const llvm::MemoryBuffer &input);
  llvm::Expected<LoadedProgram> loadCompiled(const llvm::MemoryBuffer &input);
  llvm::Expected<CompiledProgram> compile(const llvm::MemoryBuffer &input, const CpuTarget &cpu);
  /// Lowers the module and makes code of it; signature and reports are left to the caller.
  llvm::Expected<CompiledProgram> generate(LoadedProgram &program, const CpuTarget &cpu);
  llvm::Error loadCompiledGradients(LoadedProgram &program, llvm::StringRef gradientFunction,
                                    std::unique_ptr<Executable> &entry,
                                    std::unique_ptr<Executable> &gradient);
  llvm::Error checkTarget() const;
  llvm::Error prepareReference(mlir::ModuleOp module);
  llvm::Error lower(LoadedProgram &program, const PipelineOptions &pipeline);
  llvm::Error runPipeline(mlir::ModuleOp module, PipelineBuilder build, const PipelineOptions &pipeline,
                          llvm::StringRef stage);
  llvm::Error checkInterrupt();
  llvm::Error dumpOptimized(mlir::ModuleOp module);
  std::unique_ptr<ObjectCache> openCache();
  std::string cacheKey(const llvm::MemoryBuffer &input, const CpuTarget &cpu) const;
  PipelineOptions pipelineOptions(const CpuTarget &cpu) const;
  PipelineBuilder targetPipeline() const;
  /// What runs the kernels; empty for the CPU.
  std::string deviceName() const;
  std::string numericsOption() const;
  std::string numericsName(mlir::ModuleOp module) const;

  const Options &options;
  const Hooks &hooks;
  Report &report;
  Listener &listener;
  Interruption interruption;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_FRONTEND_H
