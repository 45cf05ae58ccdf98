// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "PlanCheck.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Runner/Compile/Hooks.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/LocationText.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::diff;

// The search names files without their folders.
static std::string placeOf(Location location) {
  return llvm::sys::path::filename(locationText(location)).str();
}

std::optional<WrongPlan> mlir::ad::diff::findWrongPlan(StringRef planned) {
  DialectRegistry registry;
  runner::registerCompileDialects(registry);
  runner::standardHooks().registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::optional<WrongPlan> wrong;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    if (StringRef message = StringRef(text).split("memory plan is wrong: ").second;
        !wrong && !message.empty())
      wrong = WrongPlan{message.str(), placeOf(diagnostic.getLocation()), "", "", ""};
    return success();
  });
  auto module = parseSourceString<ModuleOp>(planned, &context);
  if (!module)
    return std::nullopt;
  SymbolTableCollection symbols;
  for (auto function : module->getOps<func::FuncOp>()) {
    std::optional<PlanConflict> conflict;
    if (function.isExternal() || succeeded(verifyMemoryPlan(function, symbols, &conflict)))
      continue;
    if (wrong && conflict) {
      wrong->writer = placeOf(conflict->writer);
      wrong->overwritten = placeOf(conflict->overwritten);
      wrong->reader = placeOf(conflict->reader);
    }
    break;
  }
  return wrong;
}
