// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "SourceProgram.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"
#include "adjoint/Dialect/AD/IR/NumericsContract.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::runner;
using llvm::Error;

std::string mlir::ad::diff::textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false));
  stream << "\n";
  return text;
}

static Error run(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  return succeeded(passes.run(module)) ? Error::success() : exitError(ExitProgramError, "");
}

// Operations that are inlined would get the contract and the policy of the entry.
static Error checkFunctions(ModuleOp module, StringRef entryName) {
  for (auto function : module.getOps<func::FuncOp>()) {
    bool isEntry = function.getName() == entryName;
    for (StringRef attribute : {StringRef(ADDialect::kNumericsAttr), StringRef(kPrecisionAttr)})
      if (function->hasAttr(attribute) &&
          (isEntry ? !llvm::hasSingleElement(module.getOps<func::FuncOp>()) : attribute == kPrecisionAttr))
        return usageError(locationText(function.getLoc()) + ": function @" + function.getName() + " has " +
                          attribute + " of its own, which would be lost when calls are inlined; " +
                          "put it on the module");
  }
  return Error::success();
}

/// Keeps the contracts of functions, derived ones too, where they are inlined.
static void keepContracts(ModuleOp module, StringRef entryName) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(ADDialect::kNumericsAttr) && function.getName() != entryName)
      function.walk([](NumericsOpInterface op) {
        if (!op.hasPermissions())
          op.setPermissions(numericsInForceAt(op).permissions());
      });
}

Error mlir::ad::diff::differentiateSource(ModuleOp module, StringRef entry) {
  if (Error error = checkFunctions(module, entry))
    return error;
  if (Error error = run(module, [](OpPassManager &pm) { pm.addPass(createDifferentiatePass()); }))
    return error;
  keepContracts(module, entry);
  if (Error error = run(module, [](OpPassManager &pm) {
        pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
        pm.addPass(createSymbolDCEPass());
      }))
    return error;
  llvm::DenseSet<Operation *> written;
  module.walk([&](NumericsOpInterface op) {
    if (op.hasPermissions())
      written.insert(op);
  });
  Attribute contract = module->getAttr(ADDialect::kNumericsAttr);
  if (Error error = run(module, [](OpPassManager &pm) { pm.addPass(createSetNumericsPass()); }))
    return error;
  module.walk([&](NumericsOpInterface op) {
    if (!written.contains(op))
      op->removeAttr("allow");
  });
  if (!contract)
    module->removeAttr(ADDialect::kNumericsAttr);
  return Error::success();
}
