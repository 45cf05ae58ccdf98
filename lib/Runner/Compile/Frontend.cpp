// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Parses, lowers and compiles programs.
#include "Frontend.h"
#include "NativeCode.h"
#include "ProgramText.h"
#include "RewriteLists.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/PassAttributes.h"
#include "adjoint/Dialect/AD/Transforms/MissingKernels.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernels.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/PolicyNames.h"
#include "adjoint/Numerics/PrecisionPolicy.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "adjoint/Runtime/Host/Symbols.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/ParseModule.h"
#include "adjoint/Support/ParserHints.h"
#include "adjoint/Support/SymbolName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

/// Copies the program after the pass that plans memory, and what passes without a flag make of it.
class PlanCollector final : public PassInstrumentation {
public:
  explicit PlanCollector(std::string &plan) : plan(plan) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isa<ModuleOp>(op))
      return;
    if (!pass->getArgument().empty())
      isPlanned = pass->getArgument() == "ad-plan-memory";
    if (!isPlanned)
      return;
    plan.clear();
    llvm::raw_string_ostream stream(plan);
    op->print(stream, OpPrintingFlags().enableDebugInfo());
  }

private:
  std::string &plan;
  bool isPlanned = false;
};

/// Counts errors. A pass that fails without an error is an internal error, which gets a message of its own.
class ErrorCounter {
public:
  explicit ErrorCounter(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          count += diagnostic.getSeverity() == DiagnosticSeverity::Error;
          return success(mlir::ad::addParserHint(diagnostic)); // the listener handles the other diagnostics
        }) {}
  Error makeError(const Twine &unexplained) const {
    return exitError(ExitProgramError, count ? Twine("") : unexplained);
  }

private:
  unsigned count = 0;
  ScopedDiagnosticHandler handler;
};

/// Whether the module was lowered before it was written to a file: it then has the compiled entry.
bool isLowered(ModuleOp module, StringRef entry) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(adrt::entrySymbol(entry));
  return function && !function.isExternal();
}

/// A program may declare a function without a body, which would not link.
Error requireBodies(ModuleOp module) {
  auto isService = [](StringRef name) {
    return name.starts_with("llvm.") ||
           llvm::any_of(adrt::getSymbols(), [&](const adrt::Symbol &symbol) { return name == symbol.name; });
  };
  bool all = true;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isExternal() && !isService(function.getName())) {
      function.emitError()
          << "function '" << function.getName()
          << "' has no body; define it in this module, since programs link with nothing else";
      all = false;
    }
  return all ? Error::success() : exitError(ExitProgramError, ""); // explained above
}

std::vector<std::string> readKernelNames(ModuleOp module) {
  std::vector<std::string> names;
  if (auto array = module->getAttrOfType<ArrayAttr>("adrt.kernel_names"))
    for (Attribute name : array)
      names.push_back(isa<StringAttr>(name) ? cast<StringAttr>(name).str() : "?");
  return names;
}

/// Moves the code of GPU kernels out of the module: the GPU's driver compiles it, not LLVM.
void takeImage(ModuleOp module, CompiledProgram &program) {
  for (auto binary : llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>())) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    program.image = object.getObject().str();
    if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget()))
      program.chip = target.getChip().str();
    binary.erase();
  }
}

/// Makes all functions but the entry private, so that the first pass drops those that the entry does not
/// call.
void hideOthers(ModuleOp module, StringRef entry) {
  for (auto function : module.getOps<func::FuncOp>())
    function.setVisibility(function.getName() == entry ? SymbolTable::Visibility::Public
                                                       : SymbolTable::Visibility::Private);
}

/// The error with a hint after its message.
Error withHint(Error error, const Twine &hint) {
  auto [code, message] = consumeExitError(std::move(error));
  return exitError(code, message + "; " + hint);
}

Error writeText(StringRef path, StringRef text) { return writeFile(path, {text}); }

} // namespace

// Code for sm_90a runs on no other chip. So it is the default on that GPU, except for files, which may run on
// another machine.
static std::string chipFor(const Options &options) {
  bool isDefault = options.chip.empty() && options.emit.empty() && options.target == Target::Cuda;
  return isDefault && adrt::findCudaChip() == "sm_90" ? "sm_90a" : options.chip;
}

PipelineOptions Frontend::pipelineOptions(const CpuTarget &cpu) const {
  PipelineOptions pipeline;
  pipeline.entry = options.entry;
  pipeline.numerics = numericsOption();
  pipeline.precision = options.precision;
  pipeline.kernels = options.kernels;
  pipeline.missingKernels = options.missingKernels;
  pipeline.pathPrefixMap = options.pathPrefixMap;
  bool isOnDevice = options.target == Target::Cuda || options.target == Target::GpuSim;
  pipeline.target = isOnDevice ? "gpu" : "cpu";
  pipeline.optimize = options.optimize;
  pipeline.fuse = options.fuse;
  pipeline.tiles = options.tiles;
  pipeline.chip = chipFor(options);
  pipeline.tile = options.tile;
  pipeline.profile = !options.report.empty();
  pipeline.trace = observer && observer->needsKernelResults();
  pipeline.cpu = cpu.cpu;
  pipeline.cpuFeatures = cpu.features;
  pipeline.vectorBytes = cpu.vectorBytes;
  pipeline.dotProducts = cpu.dotProducts;
  pipeline.halfInstructions = cpu.halfInstructions;
  return pipeline;
}

std::string Frontend::deviceName() const {
  return options.target == Target::Cpu ? "" : targetName(options.target).str();
}

Frontend::PipelineBuilder Frontend::targetPipeline() const {
  switch (options.target) {
  case Target::GpuSim:
    return hooks.buildGpuSimPipeline;
  case Target::Cuda:
    return hooks.buildCudaPipeline;
  default:
    return hooks.buildCpuPipeline;
  }
}

std::string Frontend::numericsOption() const {
  std::string text = options.numericsMode;
  for (const std::string &permission : options.numericsPermissions)
    text += "," + permission;
  return text;
}

std::string Frontend::numericsName(ModuleOp module) const {
  std::string name = numericsOption();
  if (!name.empty())
    return name;
  Attribute written = module->getAttr("ad.numerics");
  if (!written)
    return "strict";
  llvm::raw_string_ostream(name) << written;
  // #ad.numerics<MODE, PERMISSIONS> by its content.
  StringRef content = name;
  if (content.consume_front("#ad.numerics<") && content.consume_back(">"))
    return content.str();
  return name;
}

bool Frontend::hasCast(ModuleOp module) {
  return module.walk([](ad::CastOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

llvm::json::Value Frontend::reportNumerics(MLIRContext *context) {
  ad::NumericsLog *log = ad::NumericsLog::get(context);
  return log ? log->toJSON() : llvm::json::Array();
}

//===- Reading ------------------------------------------------------------===//

Expected<Signature> Frontend::findEntry(ModuleOp module, const llvm::MemoryBuffer &input) const {
  bool hasEntry = module.lookupSymbol<func::FuncOp>(options.entry) != nullptr;
  if (isLowered(module, options.entry) && !hasEntry)
    return exitError(ExitProgramError, "'" + input.getBufferIdentifier() +
                                           "' has been lowered to the LLVM dialect, and has lost " +
                                           "the function @" + options.entry +
                                           " that says what arguments there are; run the program "
                                           "before, or the output of --dump-optimized");
  Expected<Signature> signature = readSignature(module, options.entry);
  if (!signature && !hasEntry && !module.getOps<func::FuncOp>().empty())
    return withHint(signature.takeError(), "choose one with " + listener.optionText("entry", "NAME"));
  return signature;
}

// The default pool of MLIR ignores CPU quotas.
void LoadedProgram::renewThreads() {
  // The old pool stays until the context has the new one.
  auto renewed = std::make_unique<TaskPool>(adrt::countCPUs());
  useTaskPool(*context, *renewed);
  threads = std::move(renewed);
}

// The pass reads the policy, too; here an error is one of the command line.
static Error checkPolicy(MLIRContext *context, StringRef precision) {
  if (precision.empty() || precision == "none")
    return Error::success();
  Expected<ad::numerics::PrecisionPolicy> policy = ad::numerics::loadPolicy(precision);
  if (!policy)
    return usageError("--precision: " + llvm::toString(policy.takeError()));
  context->getOrLoadDialect<ad::ADDialect>();
  std::string problem = ad::checkListedOperations(*policy, context);
  return problem.empty() ? Error::success() : usageError("--precision: " + problem);
}

static Error checkKernels(MLIRContext *context, const Options &options) {
  context->getOrLoadDialect<ad::ADDialect>();
  Expected<std::vector<ad::KernelChoice>> choices = ad::parseKernelChoices(context, options.kernels);
  if (!choices)
    return usageError("--kernel: " + llvm::toString(choices.takeError()));
  Expected<ad::MissingKernels> missing = ad::parseMissingKernels(context, options.missingKernels);
  return missing ? Error::success() : usageError("--missing-kernels: " + llvm::toString(missing.takeError()));
}

// The program was verified when it was parsed, and is verified again when it has been lowered.
static Error importProgram(ModuleOp module, const Hooks &hooks, const ErrorCounter &errors) {
  PassManager passes(module.getContext());
  hooks.buildImportPipeline(passes);
#ifdef NDEBUG
  passes.enableVerifier(false);
#endif
  if (failed(passes.run(module)))
    return errors.makeError("internal error: the import failed without a reason");
  return Error::success();
}

Expected<LoadedProgram> Frontend::parse(const llvm::MemoryBuffer &input) {
  StageScope stage(report.stages, "parse");
  if (Error error = checkProgramText(input))
    return std::move(error);
  LoadedProgram program;
  DialectRegistry registry;
  registerCompileDialects(registry);
  registry.insert<func::FuncDialect>();
  hooks.registerDialects(registry);
  program.context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  if (Error error = checkPolicy(program.context.get(), options.precision))
    return std::move(error);
  if (Error error = controlRewrites(program.context.get(), options))
    return std::move(error);
  program.renewThreads();
  if (Error error = checkKernels(program.context.get(), options))
    return std::move(error);
  program.context->printOpOnDiagnostic(false); // diagnostics show the source line instead
  program.sources = std::make_unique<llvm::SourceMgr>(mlir::ad::noFiles());
  program.sources->AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(input.getBuffer(), input.getBufferIdentifier()), llvm::SMLoc());
  program.diagnostics = listener.watch(*program.sources, program.context.get());
  ErrorCounter errors(program.context.get());
  program.module = mlir::ad::parseModule(*program.sources, program.context.get());
  if (!program.module)
    return errors.makeError("the program does not parse");
  if (Error error = importProgram(*program.module, hooks, errors))
    return std::move(error);
  Expected<Signature> signature = findEntry(*program.module, input);
  if (!signature)
    return signature.takeError();
  if (Error error = refuseNativeCode(*program.module, options))
    return std::move(error);
  if (!allowsNativeCode(options))
    mlir::ad::dropPassAttributes(*program.module);
  program.signature = std::move(*signature);
  hideOthers(*program.module, options.entry);
  if (observer)
    observer->parsed(*program.module);
  report.numerics = numericsName(*program.module);
  return std::move(program);
}

//===- Lowering -----------------------------------------------------------===//

Error Frontend::checkInterrupt() {
  return interruption.check() ? exitError(ExitInterrupted, "interrupted") : Error::success();
}

Error Frontend::runPipeline(ModuleOp module, PipelineBuilder build, const PipelineOptions &pipeline,
                            StringRef stageName) {
  listener.progress("compiling: " + stageName);
  StageScope stage(report.stages, stageName);
  PassManager passes(module.getContext());
  build(passes, pipeline);
#ifdef NDEBUG
  // The verifier takes 40 % of the time if it runs after each pass. Here it runs once, after the last pass.
  passes.enableVerifier(false);
#endif
  passes.addInstrumentation(createPassTimer(report.passes));
  passes.addInstrumentation(observeRewrites());
  if (!options.dumpPlan.empty())
    passes.addInstrumentation(std::make_unique<PlanCollector>(plan));
  if (observer)
    passes.addInstrumentation(observer->observePasses());
  ErrorCounter errors(module.getContext());
  PassSkipper skipper(module.getContext(), interruption);
  if (failed(passes.run(module)) || failed(verify(module)))
    return errors.makeError("internal error: a pass of stage " + stageName + " failed without a reason");
  return checkInterrupt();
}

Error Frontend::dumpOptimized(ModuleOp module) {
  if (options.dumpOptimized.empty())
    return Error::success();
  std::string text;
  llvm::raw_string_ostream(text) << *module << "\n";
  return writeText(options.dumpOptimized, text);
}

Error Frontend::dumpPlan() {
  return options.dumpPlan.empty() ? Error::success() : writeText(options.dumpPlan, plan + "\n");
}

Error Frontend::lower(LoadedProgram &program, const PipelineOptions &pipeline) {
  ModuleOp module = *program.module;
  if (isLowered(module, options.entry) && options.target != Target::Cpu)
    return exitError(ExitProgramError, "the program has been lowered for the CPU; target '" +
                                           targetName(options.target) + "' needs the one before");
  if (!isLowered(module, options.entry)) {
    if (Error error = runPipeline(module, hooks.buildOptimizePipeline, pipeline, "optimize"))
      return error;
    report.hasCast = hasCast(module);
    if (Error error = dumpOptimized(module))
      return error;
    if (Error error = runPipeline(module, targetPipeline(), pipeline, "lower"))
      return error;
    if (Error error = dumpPlan())
      return error;
  }
  if (!isLowered(module, options.entry))
    return exitError(ExitProgramError,
                     "internal error: the pipeline left no " + adrt::entrySymbol(options.entry));
  // The remaining func.func declarations only give the signature.
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function.isExternal())
      function.erase();
  return options.target == Target::Cpu ? requireBodies(module) : Error::success();
}

Expected<CompiledProgram> Frontend::generate(LoadedProgram &program, const CpuTarget &cpu) {
  ModuleOp module = *program.module;
  if (Error error = lower(program, pipelineOptions(cpu)))
    return std::move(error);
  CompiledProgram compiled;
  compiled.kernels = readKernelNames(module);
  compiled.device = deviceName();
  takeImage(module, compiled);
  listener.progress("compiling: code");
  CpuTarget target = cpu;
  target.emulatesGPU = options.target == Target::GpuSim;
  Expected<std::vector<std::string>> objects = compileToObjects(module, target, report.stages);
  if (!objects)
    return objects.takeError();
  compiled.objects = std::move(*objects);
  return std::move(compiled);
}

Expected<CompiledProgram> Frontend::compile(const llvm::MemoryBuffer &input, const CpuTarget &cpu) {
  Expected<LoadedProgram> parsed = parse(input);
  if (!parsed)
    return parsed.takeError();
  auto program = std::make_shared<LoadedProgram>(std::move(*parsed));
  if (observer)
    observer->keep(program);
  Expected<CompiledProgram> compiled = generate(*program, cpu);
  if (!compiled)
    return compiled.takeError();
  compiled->numerics = report.numerics;
  compiled->hasCast = report.hasCast;
  compiled->numericsReport = reportNumerics(program->context.get());
  compiled->rewrites = listRewrites(program->context.get(), options);
  compiled->signature = std::move(program->signature);
  return compiled;
}
