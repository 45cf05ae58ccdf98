// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles the text of a program to an executable. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_COMPILE_FRONTEND_H
#define ADJOINT_LIB_RUNNER_COMPILE_FRONTEND_H

#include "../Cache/ObjectCache.h"
#include "../IO/Listener.h"
#include "../Session/GradientProgram.h"
#include "Interruption.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Runner/Compile/Hooks.h"
#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runner/Session/Tracer.h"
#include "adjoint/Support/TaskPool.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <functional>

namespace mlir::ad::runner {

/// A program that is ready to run. Members may refer to members before them.
struct LoadedProgram {
  std::unique_ptr<TaskPool> threads;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<llvm::SourceMgr> sources;
  std::shared_ptr<void> diagnostics; // the handler, while passes may emit diagnostics
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Signature signature;
  llvm::json::Value numericsReport = nullptr;
  std::string rewrites; ///< of the compilation, if they are listed
  std::unique_ptr<Executable> executable;

  /// Gives the context a new thread pool with a thread per CPU that this process may use. Its threads start
  /// when there is work. The threads of the old pool end.
  void renewThreads();
};

class Frontend {
public:
  /// Stops between passes and stages, with ExitInterrupted, once `interrupted` returns true.
  Frontend(const Options &options, const Hooks &hooks, Report &report, Listener &listener,
           const std::function<bool()> &interrupted)
      : options(options), hooks(hooks), report(report), listener(listener), interruption(interrupted) {}

  /// Shows all stages to the observer, which may be null. With one, the program does not come from the cache.
  void setObserver(CompilationObserver *newObserver) { observer = newObserver; }

  /// Loads a compiled program from the cache, or parses, lowers and compiles it.
  llvm::Expected<LoadedProgram> load(const llvm::MemoryBuffer &input);
  /// Parses the program and reads its signature. The result has no executable.
  llvm::Expected<LoadedProgram> parse(const llvm::MemoryBuffer &input);

  /// Compiles the entry of a parsed program and the function of addGradientFunction, for any target.
  llvm::Expected<std::unique_ptr<GradientRuns>> loadGradients(LoadedProgram &program);

  /// Gets the compiled program from the cache, or compiles and caches it. `cpu` and the device may be those
  /// of another machine.
  llvm::Expected<CompiledProgram> compileOnce(const llvm::MemoryBuffer &input, const CpuTarget &cpu);

private:
  using PipelineBuilder = void (*)(mlir::OpPassManager &, const PipelineOptions &);

  llvm::Expected<LoadedProgram> loadReference(const llvm::MemoryBuffer &input);
  llvm::Expected<LoadedProgram> loadCompiled(const llvm::MemoryBuffer &input);
  llvm::Expected<CompiledProgram> compile(const llvm::MemoryBuffer &input, const CpuTarget &cpu);
  /// Lowers the module and compiles it; the caller sets the signature and reports.
  llvm::Expected<CompiledProgram> generate(LoadedProgram &program, const CpuTarget &cpu);
  llvm::Error loadCompiledGradients(LoadedProgram &program, llvm::StringRef gradientFunction,
                                    std::unique_ptr<Executable> &entry,
                                    std::unique_ptr<Executable> &gradient);
  /// The signature of the entry; errors say how to choose one.
  llvm::Expected<Signature> findEntry(mlir::ModuleOp module, const llvm::MemoryBuffer &input) const;
  llvm::Error checkTarget() const;
  llvm::Error prepareReference(mlir::ModuleOp module);
  llvm::Error lower(LoadedProgram &program, const PipelineOptions &pipeline);
  llvm::Error runPipeline(mlir::ModuleOp module, PipelineBuilder build, const PipelineOptions &pipeline,
                          llvm::StringRef stage);
  llvm::Error checkInterrupt();
  llvm::Error dumpOptimized(mlir::ModuleOp module);
  llvm::Error dumpPlan();
  std::unique_ptr<ObjectCache> openCache();
  std::string cacheKey(const llvm::MemoryBuffer &input, const CpuTarget &cpu) const;
  PipelineOptions pipelineOptions(const CpuTarget &cpu) const;
  PipelineBuilder targetPipeline() const;
  /// CompiledProgram::device for the target.
  std::string deviceName() const;
  std::string numericsOption() const;
  std::string numericsName(mlir::ModuleOp module) const;
  static bool hasCast(mlir::ModuleOp module);
  /// Uses of numerics permissions by the passes that ran in the context, as a JSON array.
  static llvm::json::Value reportNumerics(mlir::MLIRContext *context);

  const Options &options;
  const Hooks &hooks;
  Report &report;
  Listener &listener;
  Interruption interruption;
  CompilationObserver *observer = nullptr;
  std::string plan; ///< the text for --dump-plan
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_COMPILE_FRONTEND_H
