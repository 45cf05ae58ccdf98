// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// libFuzzer's entry for programs: any text gives a module or an error, and any module goes through the passes
// or is refused with a diagnostic. Built by parser.sh.
#include "mlir/Parser/Parser.h"
#include "adjoint/Dialect/AD/Derivatives/Derivatives.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace mlir;

// Types and attributes are freed with their context. A new context from time to time bounds the memory.
static constexpr unsigned inputsPerContext = 512;
static unsigned errors = 0;

static std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registry.insert<ad::ADDialect, ad::check::CheckDialect, arith::ArithDialect, func::FuncDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
  ad::registerDerivatives(registry);
  func::registerInlinerExtension(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  return context;
}

// Compiling to code takes several times as long as lowering to linalg, so only some inputs are compiled.
static void runStages(ModuleOp module, bool toCode) {
  ad::AdToCpuOptions options;
  PassManager passes(module->getContext());
  toCode ? ad::buildAdToCpuPipeline(passes, options) : ad::buildAdToLinalgPipeline(passes, options);
  errors = 0;
  if (succeeded(passes.run(module)) || errors)
    return;
  std::fputs("ERROR: a pass failed without a diagnostic\n", stderr);
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<MLIRContext> context;
  static unsigned inputs = 0;
  if (inputs++ % inputsPerContext == 0)
    context = createContext();
  std::string text(reinterpret_cast<const char *>(data), size); // the lexer reads the zero after the end
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(context.get()));
  if (module)
    runStages(*module, /*toCode=*/size % 3 == 0);
  return 0;
}
