// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes executables: compiled code, from the cache if possible, the reference interpreter, and pairs of
// executables that check gradients.
#include "Frontend.h"
#include "LoadProgram.h"
#include "NativeCode.h"
#include "RewriteLists.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

std::unique_ptr<ObjectCache> Frontend::openCache() {
  // A dump, an observer and a list of rewrites need the passes to run.
  if (options.cache == "off" || !options.dumpOptimized.empty() || !options.dumpPlan.empty() || observer ||
      controlsRewrites(options))
    return nullptr;
  std::string directory = options.cache.empty() ? ObjectCache::defaultDirectory() : options.cache, warning;
  if (directory.empty())
    return nullptr;
  std::unique_ptr<ObjectCache> cache = ObjectCache::open(directory, warning);
  if (!warning.empty())
    listener.warn(warning);
  return cache;
}

// A file has changed if its content has, whatever its name is. Other values are names of policies.
static std::string policyText(StringRef precision) {
  if (!precision.ends_with(".yaml"))
    return "";
  auto buffer = llvm::MemoryBuffer::getFile(precision);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

std::string Frontend::cacheKey(const llvm::MemoryBuffer &input, const CpuTarget &cpu) const {
  // A structured binding of all fields: with a new field, this does not compile until the key has it.
  const auto [entry, numerics, precision, kernels, missingKernels, pathPrefixMap, target, optimize, fuse,
              tiles, tile, profile, trace, chip, cpuName, cpuFeatures, vectorBytes, dotProducts,
              halfInstructions] = pipelineOptions(cpu);
  CacheKey key;
  key.add(buildId());
  key.add(std::to_string(ADRT_ABI_VERSION));
  key.add(input.getBufferIdentifier()); // part of the locations of run-time errors
  key.add(input.getBuffer());
  key.add(targetName(options.target));
  for (const std::string &text :
       {entry, numerics, precision, policyText(precision), kernels, missingKernels, pathPrefixMap, fuse,
        tiles, tile, chip, cpuName, llvm::join(cpuFeatures, ","), std::to_string(vectorBytes)})
    key.add(text);
  // What was compiled with native code is not found by a run that would refuse the program.
  key.add(allowsNativeCode(options) ? "native" : "");
  key.add(optimize ? "optimize" : "");
  key.add(profile ? "profile" : "");
  key.add(trace ? "trace" : "");
  key.add(dotProducts ? "dot products" : "");
  key.add(halfInstructions ? "half instructions" : "");
  key.add(cpu.featureString());
  return key.digest();
}

Expected<CompiledProgram> Frontend::compileOnce(const llvm::MemoryBuffer &input, const CpuTarget &cpu) {
  report.cpu = cpu.cpu;
  std::unique_ptr<ObjectCache> cache = openCache();
  std::optional<CompiledProgram> compiled;
  std::string key;
  if (cache) {
    StageScope stage(report.stages, "cache");
    key = cacheKey(input, cpu);
    compiled = cache->load(key);
  }
  report.cache = !cache ? "off" : compiled ? "hit" : "miss";
  if (!compiled) {
    Expected<CompiledProgram> fresh = compile(input, cpu);
    if (!fresh)
      return fresh.takeError();
    compiled = std::move(*fresh);
    if (cache)
      if (Error error = cache->store(key, *compiled))
        listener.warn("the compiled program is not cached: " + consumeExitError(std::move(error)).second);
  }
  report.numerics = compiled->numerics;
  report.hasCast = compiled->hasCast;
  return std::move(*compiled);
}

Expected<LoadedProgram> Frontend::loadCompiled(const llvm::MemoryBuffer &input) {
  Expected<CpuTarget> cpu = findCpu(options.cpu);
  if (!cpu)
    return cpu.takeError();
  Expected<CompiledProgram> compiled = compileOnce(input, *cpu);
  if (!compiled)
    return compiled.takeError();
  StageScope stage(report.stages, "link");
  Expected<std::unique_ptr<Executable>> executable = loadProgram(*compiled);
  if (!executable)
    return executable.takeError();
  LoadedProgram program;
  program.signature = std::move(compiled->signature);
  program.numericsReport = std::move(compiled->numericsReport);
  program.rewrites = std::move(compiled->rewrites);
  program.executable = std::move(*executable);
  return std::move(program);
}

Error Frontend::prepareReference(ModuleOp module) {
  return runPipeline(module, hooks.buildReferencePipeline, pipelineOptions(hostCpu()), "prepare");
}

Expected<LoadedProgram> Frontend::loadReference(const llvm::MemoryBuffer &input) {
  Expected<LoadedProgram> program = parse(input);
  if (!program)
    return program.takeError();
  if (Error error = prepareReference(*program->module))
    return std::move(error);
  report.hasCast = hasCast(*program->module);
  if (Error error = dumpOptimized(*program->module))
    return std::move(error);
  program->numericsReport = reportNumerics(program->context.get());
  program->rewrites = listRewrites(program->context.get(), options);
  program->executable = hooks.makeReference(*program->module, options.entry);
  return program;
}

Error Frontend::checkTarget() const {
  constexpr llvm::StringLiteral known("; targets are reference, cpu and gpu-sim");
  switch (options.target) {
  case Target::Cpu:
  case Target::GpuSim:
  case Target::Reference:
    return Error::success();
  case Target::Cuda:
    if (std::string problem = adrt::findCudaProblem(); !problem.empty())
      return exitError(ExitNoTarget, "target 'cuda' is not available: " + problem + known);
    return Error::success();
  }
  return usageError("unknown target");
}

Expected<LoadedProgram> Frontend::load(const llvm::MemoryBuffer &input) {
  if (Error error = checkTarget())
    return std::move(error);
  return options.target == Target::Reference ? loadReference(input) : loadCompiled(input);
}

//===- Gradients ----------------------------------------------------------===//

Error Frontend::loadCompiledGradients(LoadedProgram &program, StringRef gradientFunction,
                                      std::unique_ptr<Executable> &entry,
                                      std::unique_ptr<Executable> &gradient) {
  Expected<CpuTarget> cpu = findCpu(options.cpu);
  if (!cpu)
    return cpu.takeError();
  Expected<CompiledProgram> compiled = generate(program, *cpu);
  if (!compiled)
    return compiled.takeError();
  for (auto [name, executable] :
       {std::pair(StringRef(options.entry), &entry), {gradientFunction, &gradient}}) {
    compiled->signature.entry = name.str();
    Expected<std::unique_ptr<Executable>> loaded = loadProgram(*compiled);
    if (!loaded)
      return loaded.takeError();
    *executable = std::move(*loaded);
  }
  return Error::success();
}

Expected<std::unique_ptr<GradientRuns>> Frontend::loadGradients(LoadedProgram &program) {
  if (Error error = checkTarget())
    return std::move(error);
  ModuleOp module = *program.module;
  std::vector<size_t> wrt = floatArguments(program.signature);
  widenToF64(module);
  Expected<std::string> gradientFunction = addGradientFunction(module, program.signature, wrt);
  if (!gradientFunction)
    return gradientFunction.takeError();
  std::unique_ptr<Executable> entry, gradient;
  if (options.target == Target::Reference) {
    if (Error error = prepareReference(module))
      return std::move(error);
    entry = hooks.makeReference(module, options.entry);
    gradient = hooks.makeReference(module, *gradientFunction);
  } else if (Error error = loadCompiledGradients(program, *gradientFunction, entry, gradient)) {
    return std::move(error);
  }
  return std::make_unique<GradientRuns>(program.signature, std::move(wrt), std::move(entry),
                                        std::move(gradient));
}
