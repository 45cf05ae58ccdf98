// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Texts of the stages of the compiler, for embedders.
#include "adjoint/Builder/LowerProgram.h"
#include "../Runner/Compile/ProgramText.h"
#include "../Runner/ProgramSupport.h"
#include "ParsePasses.h"
#include "adjoint/InitAllDialects.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/ParseModule.h"
#include "adjoint/Support/TaskPool.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;

static Error lower(std::string_view source, std::string_view name, const std::string &pipeline,
                   MessageRecorder &recorder, std::string &text) {
  std::unique_ptr<llvm::MemoryBuffer> input = llvm::MemoryBuffer::getMemBufferCopy(source, name);
  if (Error error = checkProgramText(*input))
    return error;
  DialectRegistry registry;
  ad::registerAllDialects(registry);
  ad::registerKernelClasses(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ad::TaskPool pool(adrt::countCPUs());
  ad::useTaskPool(context, pool);
  context.printOpOnDiagnostic(false); // diagnostics show the source line instead
  llvm::SourceMgr sources(ad::noFiles());
  sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  std::shared_ptr<void> watch = recorder.watch(sources, &context);
  PassManager passes(&context);
  if (Error error = ad::parsePasses(pipeline, passes))
    return error;
  OwningOpRef<ModuleOp> module = ad::parseModule(sources, &context);
  if (!module || failed(passes.run(*module)))
    return exitError(ExitProgramError, recorder.messages.empty() ? "a pass failed without a reason" : "");
  llvm::raw_string_ostream(text) << *module << "\n";
  return Error::success();
}

bool mlir::ad::lowerProgram(std::string_view source, std::string_view name, const std::string &pipeline,
                            std::string &text, Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  ad::registerPassesOnce();
  MessageRecorder recorder;
  Error error = lower(source, name, pipeline, recorder, text);
  if (!error)
    return true;
  failure = makeFailure(std::move(error), std::move(recorder.messages));
  return false;
}
