// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Modules of the C API.
#include "adjoint-c/Module.h"
#include "../Builder/ParsePasses.h"
#include "../Runner/Compile/ProgramText.h"
#include "../Runner/ProgramSupport.h"
#include "Error.h"
#include "Program.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Runner/Compile/Hooks.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/ParseModule.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::ad;
using runner::Failure;

void adjointRegisterDialects(MlirDialectRegistry registry) {
  runner::standardHooks().registerDialects(*unwrap(registry));
}

void adjointRegisterPasses(void) { registerPassesOnce(); }

namespace {
/// Diagnostics of a context while one function runs, as its error.
class Messages {
public:
  explicit Messages(MLIRContext *context) : collector(context, messages) {}

  AdjointError *makeError(llvm::Error error) {
    return capi::makeError(runner::makeFailure(std::move(error), std::move(messages)));
  }
  AdjointError *makeError(const char *otherwise) {
    return makeError(runner::exitError(runner::ExitProgramError, messages.empty() ? otherwise : ""));
  }

private:
  std::vector<runner::Message> messages;
  runner::DiagnosticCollector collector;
};
} // namespace

AdjointError *adjointModuleParse(MlirContext context, const char *source, size_t size, const char *name,
                                 MlirModule *module) {
  if (!source || !name || !module)
    return capi::makeMissing(!source ? "source" : !name ? "name" : "place for the module");
  if (mlirContextIsNull(context))
    return capi::makeMissing("context");
  adrt::FloatingPointScope floatingPoint;
  Messages messages(unwrap(context));
  auto input = llvm::MemoryBuffer::getMemBufferCopy({source, size}, name);
  if (llvm::Error error = runner::checkProgramText(*input))
    return messages.makeError(std::move(error));
  llvm::SourceMgr sources(noFiles());
  sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  OwningOpRef<ModuleOp> parsed = parseModule(sources, unwrap(context));
  if (!parsed)
    return messages.makeError("the parser failed without a reason");
  *module = wrap(parsed.release());
  return nullptr;
}

AdjointError *adjointModuleRunPipeline(MlirModule module, const char *pipeline) {
  if (mlirModuleIsNull(module) || !pipeline)
    return capi::makeMissing(pipeline ? "module" : "pipeline");
  adrt::FloatingPointScope floatingPoint;
  registerPassesOnce();
  MLIRContext *context = unwrap(module)->getContext();
  Messages messages(context);
  PassManager passes(context);
  if (llvm::Error error = parsePasses(pipeline, passes))
    return messages.makeError(std::move(error));
  if (failed(passes.run(unwrap(module))))
    return messages.makeError("a pass failed without a reason");
  return nullptr;
}

/// Why the gradient cannot be that of `function`; empty if the operation itself can be verified.
static std::string findProblem(ModuleOp module, func::FuncOp function, StringRef name, StringRef gradient,
                               ArrayRef<int64_t> wrt) {
  if (!function)
    return "there is no function '" + name.str() + "'";
  if (function.isExternal())
    return "'" + name.str() + "' has no body to differentiate";
  if (gradient.empty())
    return "the gradient needs a name";
  if (module.lookupSymbol(gradient))
    return "the module has a symbol '" + gradient.str() + "' already";
  for (int64_t index : wrt)
    if (index < 0 || index >= function.getNumArguments())
      return "'" + name.str() + "' has no argument " + std::to_string(index);
  return "";
}

/// Appends the function, which the caller verifies.
static func::FuncOp addGradient(ModuleOp module, func::FuncOp function, StringRef name,
                                ArrayRef<int64_t> wrt) {
  Location loc = function.getLoc();
  auto builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> results(function.getResultTypes());
  for (int64_t index : wrt)
    results.push_back(function.getArgumentTypes()[index]);
  auto type = builder.getFunctionType(function.getArgumentTypes(), results);
  auto made = func::FuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToEnd(made.addEntryBlock());
  auto hasAux = function.getNumResults() > 1 ? builder.getUnitAttr() : UnitAttr();
  auto call = ValueAndGradOp::create(builder, loc, results, FlatSymbolRefAttr::get(function),
                                     made.getArguments(), builder.getDenseI64ArrayAttr(wrt), hasAux);
  func::ReturnOp::create(builder, loc, call.getResults());
  return made;
}

AdjointError *adjointModuleAddGradient(MlirModule module, const char *function, const char *gradient,
                                       const int64_t *wrt, size_t numWrt) {
  if (mlirModuleIsNull(module) || !function || !gradient || (numWrt && !wrt))
    return capi::makeMissing(mlirModuleIsNull(module) ? "module"
                             : !function              ? "function"
                             : !gradient              ? "name"
                                                      : "list");
  ModuleOp unwrapped = unwrap(module);
  ArrayRef<int64_t> indices(wrt, numWrt);
  auto callee = unwrapped.lookupSymbol<func::FuncOp>(function);
  if (std::string problem = findProblem(unwrapped, callee, function, gradient, indices); !problem.empty())
    return capi::makeError(Failure::Reason::Options, problem);
  Messages messages(unwrapped.getContext());
  unwrapped.getContext()->getOrLoadDialect<ADDialect>();
  func::FuncOp made = addGradient(unwrapped, callee, gradient, indices);
  if (succeeded(verify(unwrapped)))
    return nullptr;
  made.erase();
  return messages.makeError("the gradient is not valid");
}

/// With locations, so that messages name the source that the module came from.
static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}

AdjointError *adjointModuleCompile(MlirModule module, const AdjointOption *options, size_t numOptions,
                                   AdjointProgram **program) {
  if (mlirModuleIsNull(module))
    return capi::makeMissing("module");
  return capi::compileProgram(textOf(unwrap(module)), "module", options, numOptions, program);
}
