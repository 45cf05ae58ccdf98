// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The extensions of ad-opt to the MLIR driver.

#include "OptTool.h"

#include "adjoint/InitAllDialects.h"
#include "adjoint/InitAllPasses.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/Nesting.h"
#include "adjoint/Support/OutOfMemory.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/ParseModule.h"
#include "adjoint/Support/ParserHints.h"
#include "adjoint/Support/Printable.h"
#include "adjoint/Support/TaskPool.h"
#include "adjoint/Support/TemporaryPath.h"
#include "adjoint/Support/TextFile.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

#include <csignal>
#include <link.h>

using namespace mlir;

static bool hasArgument(ArrayRef<char *> arguments, ArrayRef<StringRef> names) {
  return llvm::any_of(arguments.drop_front(), [&](StringRef argument) {
    if (!argument.consume_front("--"))
      argument.consume_front("-");
    return llvm::is_contained(names, argument.split('=').first);
  });
}

// Upstream's lists are sorted by name. Our passes come first in a list of their own, which is printed while
// only they are registered.
static void listAdjointPasses() {
  llvm::outs() << "Adjoint:\n";
  printRegisteredPasses();
  llvm::outs() << "Pass Pipelines:\n";
  size_t width = 0;
  for (StringRef name : ad::kAdjointPipelines)
    if (const PassPipelineInfo *pipeline = PassPipelineInfo::lookup(name))
      width = std::max(width, pipeline->getOptionWidth() + 4);
  for (StringRef name : ad::kAdjointPipelines)
    if (const PassPipelineInfo *pipeline = PassPipelineInfo::lookup(name))
      pipeline->printHelpStr(/*indent=*/2, width);
  llvm::outs() << "\nAll, with upstream's:\n";
}

// The packaged LLVM is built without assertions and has no --debug-only. Our option works if our code is
// built with assertions.
static void registerDebugOnly() {
#ifndef NDEBUG
  if (llvm::cl::getRegisteredOptions().count("debug-only"))
    return;
  static llvm::cl::list<std::string> debugOnly(
      "debug-only", llvm::cl::CommaSeparated, llvm::cl::value_desc("debug types"),
      llvm::cl::desc("Print the debug output of these types, e.g. ad-fuse"),
      llvm::cl::callback([](const std::string &type) {
        static SmallVector<const char *> types;
        types.push_back(strdup(type.c_str()));
        llvm::DebugFlag = true;
        llvm::setCurrentDebugTypes(types.data(), types.size());
      }));
#endif
}

// Exit codes of all our tools: the program is wrong; a file cannot be read or written.
constexpr int kExitProgram = 1, kExitFile = 2;

static int failAboutFile(const Twine &message) {
  ad::printableErrors() << "ad-opt: error: " << ad::messageText(message) << "\n";
  return kExitFile;
}

// `--ad-to-cpu-code=OPTIONS` is ad-to-cpu-code.
static StringRef flagOf(StringRef argument) {
  return argument.drop_while([](char c) { return c == '-'; }).split('=').first;
}

// A program is lowered for one target. The first stages of the CPU precede those of a GPU.
static std::string checkTargets(ArrayRef<char *> arguments) {
  StringRef cpu, gpu;
  for (StringRef argument : arguments) {
    StringRef flag = flagOf(argument);
    if (!argument.starts_with("-"))
      continue;
    if (flag == "ad-to-cpu" || flag == "ad-to-cpu-kernels" || flag == "ad-to-cpu-code")
      cpu = flag;
    if (flag.starts_with("ad-to-gpu"))
      gpu = flag;
  }
  if (cpu.empty() || gpu.empty())
    return "";
  return ("expected stages of one target, but got --" + cpu + " and --" + gpu +
          "; of ad-to-cpu, the stages frontend and fusion alone go before those of ad-to-gpu")
      .str();
}

static bool hasSharedMLIR() {
  auto isMLIR = [](dl_phdr_info *image, size_t, void *) {
    return static_cast<int>(StringRef(image->dlpi_name).contains("libMLIR"));
  };
  return dl_iterate_phdr(isMLIR, nullptr) != 0;
}

// A plug-in brings the shared library of MLIR, whose types are others than those of a program that has MLIR
// inside.
static std::string checkPlugIns(ArrayRef<char *> arguments) {
  for (StringRef argument : arguments)
    if (StringRef flag = flagOf(argument); flag == "load-dialect-plugin" || flag == "load-pass-plugin")
      if (!hasSharedMLIR())
        return ("--" + flag + ": this ad-opt has MLIR inside and takes no plug-ins; the installed one does")
            .str();
  return "";
}

// An empty mode would select the module's own mode without a message.
static std::string checkNumerics(ArrayRef<char *> arguments) {
  for (StringRef argument : arguments) {
    if (!flagOf(argument).starts_with("ad-"))
      continue;
    SmallVector<StringRef> options;
    argument.split('=').second.split(options, ' ');
    if (llvm::is_contained(options, "numerics="))
      return ("--" + flagOf(argument) +
              ": expected numerics=MODE[,PERMISSION...] with reproducible, strict or fast, "
              "but got no mode")
          .str();
  }
  return "";
}

namespace {
/// Our messages in the context that the driver makes. func is the first dialect that a program loads; by then
/// the driver has installed its diagnostic handler.
class MessagesExtension : public DialectExtension<MessagesExtension, func::FuncDialect> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MessagesExtension)

  MessagesExtension(StringRef input, bool isVerified) : input(input), isVerified(isVerified) {}

  void apply(MLIRContext *context, func::FuncDialect *) const override {
    if (!isVerified) // else the driver reads all messages
      context->getDiagEngine().registerHandler([input = input](Diagnostic &diagnostic) {
        return success(ad::printOfOtherFile(diagnostic, input));
      });
    ad::addParserHints(context);
  }

private:
  std::string input;
  bool isVerified;
};
} // namespace

// Aliases stand for what they name, which may be aliases too: text of few lines may be nested deeply.
static bool mayBeNestedByNames(StringRef text) {
  constexpr size_t harmless = 16;
  return text.count("\n#") + text.count("\n!") > harmless;
}

// The driver parses the file itself, and would overflow its stack, or print without an end, where a module is
// nested too deeply. Its messages say what else is wrong with text; those about bytecode may hold names of
// any bytes.
static LogicalResult verifyDepth(llvm::SourceMgr &sources, const DialectRegistry &registry, bool isText,
                                 bool allowsUnregistered) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(allowsUnregistered);
  SourceMgrDiagnosticHandler handler(sources, &context, ad::printableErrors());
  std::optional<ScopedDiagnosticHandler> silence;
  if (isText)
    silence.emplace(&context, [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = ad::readModule(sources, &context);
  silence.reset();
  return module ? ad::verifyDepth(module) : success(isText);
}

// Programs of a file are separated by lines of `// -----`.
static bool isReadable(const llvm::MemoryBuffer &file, const DialectRegistry &registry,
                       bool allowsUnregistered) {
  llvm::SourceMgr sources(ad::noFiles());
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(file.getMemBufferRef(), false), llvm::SMLoc());
  if (std::optional<ad::UnreadableText> found = ad::findUnreadable(file.getBuffer())) {
    sources.PrintMessage(ad::printableErrors(), llvm::SMLoc::getFromPointer(found->at),
                         llvm::SourceMgr::DK_Error, found->message);
    return false;
  }
  if (isBytecode(file.getMemBufferRef()))
    return succeeded(verifyDepth(sources, registry, /*isText=*/false, allowsUnregistered));
  SmallVector<StringRef> programs;
  file.getBuffer().split(programs, kDefaultSplitMarker);
  return llvm::all_of(programs, [&](StringRef text) {
    llvm::SourceMgr part(ad::noFiles());
    part.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file.getBufferIdentifier()),
                            llvm::SMLoc());
    return !mayBeNestedByNames(text) ||
           succeeded(verifyDepth(part, registry, /*isText=*/true, /*allowsUnregistered=*/true));
  });
}

// The driver starts its threads for passes only; it parses on one. Its own pool ends the process when no
// thread starts.
static MlirOptMainConfig withTaskPool(const MlirOptMainConfig &config, ad::TaskPool &pool) {
  MlirOptMainConfig changed = config;
  changed.setPassPipelineSetupFn([&config, &pool](PassManager &passes) {
    if (MLIRContext *context = passes.getContext(); context->isMultithreadingEnabled())
      ad::useTaskPool(*context, pool);
    return config.setupPassPipeline(passes);
  });
  return changed;
}

// Like upstream's driver, which prints a crash report when the output cannot be written.
static int runDriver(MutableArrayRef<char *> arguments, DialectRegistry &registry) {
  int count = static_cast<int>(arguments.size());
  auto [input, output] =
      registerAndParseCLIOptions(count, arguments.data(), "Adjoint's optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(count, arguments.data(), input, output, registry));
  if (input == "-" && llvm::sys::Process::StandardInIsUserInput())
    llvm::errs() << "(reading the program from the terminal; Ctrl-D ends it)\n";
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &problem);
  if (!file)
    return failAboutFile(problem);
  if (!isReadable(*file, registry, config.shouldAllowUnregisteredDialects()))
    return kExitProgram;
  registry.addExtension(
      TypeID::get<MessagesExtension>(),
      std::make_unique<MessagesExtension>(file->getBufferIdentifier(), config.shouldVerifyDiagnostics()));
  std::string text;
  llvm::raw_string_ostream os(text);
  ad::TaskPool pool(adrt::countCPUs());
  bool failed = mlir::failed(MlirOptMain(os, std::move(file), registry, withTaskPool(config, pool)));
  if (failed)
    ad::runner::waitForEndBySignal();
  // Of a file with several programs, those before the wrong one are printed, and not written to a file.
  if (failed && output != "-")
    return kExitProgram;
  if (llvm::Error error = ad::writeText(output, text))
    return failAboutFile(llvm::toString(std::move(error)));
  return failed ? kExitProgram : 0;
}

int ad::runOptTool(int argc, char **argv) {
  adrt::FloatingPointScope floatingPoint;
  runner::keepStandardDescriptors();
  llvm::InitLLVM initialize(argc, argv);
  runner::cleanUpOnSignals({SIGINT, SIGTERM, SIGHUP});
  runner::checkStandardOutputAtExit("ad-opt");
  runner::endOnLackOfMemory("ad-opt");
  std::signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is an error of the write
  SmallVector<char *> arguments(argv, argv + argc);

  for (auto check : {checkTargets, checkPlugIns, checkNumerics})
    if (std::string problem = check(ArrayRef(arguments).drop_front()); !problem.empty()) {
      ad::printableErrors() << "ad-opt: error: " << ad::messageText(problem) << "\n";
      return kExitProgram;
    }
  registerAdjointPasses();
  if (hasArgument(arguments, {"help", "h", "help-list", "help-hidden", "help-list-hidden", "list-passes"}))
    listAdjointPasses();
  mlir::registerAllPasses();
  registerDebugOnly();

  // Upstream writes remarks without a lock.
  std::string disableThreading = "--mlir-disable-threading";
  if (hasArgument(arguments, {"remarks-filter", "remarks-filter-passed", "remarks-filter-missed",
                              "remarks-filter-failed", "remarks-filter-analyse", "remark-format"}) &&
      !hasArgument(arguments, {"mlir-disable-threading"}))
    arguments.push_back(disableThreading.data());

  DialectRegistry registry;
  ad::registerAllDialects(registry);
  ad::registerKernelClasses(registry);
  return runDriver(arguments, registry);
}
