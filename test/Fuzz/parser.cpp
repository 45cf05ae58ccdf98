// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// libFuzzer's entry for the text of programs: whatever the bytes are, parser, verifier and passes answer with
// a module or with a diagnostic, never with a crash. Built by parser.sh.
#include "mlir/Parser/Parser.h"
#include "adjoint/InitAllDialects.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <cstdint>
#include <memory>

using namespace mlir;

// Types and attributes live as long as their context: a new one now and then keeps memory bounded.
static constexpr unsigned inputsPerContext = 512;

static std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  ad::registerAdjointDialects(registry);
  registry.insert<arith::ArithDialect, func::FuncDialect, scf::SCFDialect, tensor::TensorDialect>();
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
  return context;
}

static void runStages(ModuleOp module) {
  ad::AdToCpuOptions options;
  PassManager passes(module->getContext());
  ad::buildAdToLinalgPipeline(passes, options);
  (void)passes.run(module);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<MLIRContext> context;
  static unsigned inputs = 0;
  if (inputs++ % inputsPerContext == 0)
    context = createContext();
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(context.get()));
  if (module)
    runStages(*module);
  return 0;
}
