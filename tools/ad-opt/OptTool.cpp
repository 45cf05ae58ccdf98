// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What ad-opt adds to the ordinary MLIR driver.

#include "OptTool.h"

#include "adjoint/InitAllDialects.h"
#include "adjoint/InitAllPasses.h"
#include "adjoint/Support/ParserHints.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;

static bool hasArgument(ArrayRef<char *> arguments, ArrayRef<StringRef> names) {
  return llvm::any_of(arguments.drop_front(), [&](StringRef argument) {
    if (!argument.consume_front("--"))
      argument.consume_front("-");
    return llvm::is_contained(names, argument.split('=').first);
  });
}

// Upstream's lists are sorted by name, so ours come first in a list of their own, printed while only ours are
// registered.
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

// The packaged LLVM has no --debug-only, since it is built without assertions. Ours works when our code has
// them.
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

int ad::runOptTool(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  SmallVector<char *> arguments(argv, argv + argc);

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
  // The first dialect of a program; by then, the driver has its own handler.
  registry.addExtension(
      +[](MLIRContext *context, func::FuncDialect *dialect) { ad::addParserHints(context); });
  return asMainReturnCode(MlirOptMain(static_cast<int>(arguments.size()), arguments.data(),
                                      "Adjoint's optimizer driver\n", registry));
}
