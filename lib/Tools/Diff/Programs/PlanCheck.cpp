// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "PlanCheck.h"
#include "adjoint/Runner/Session/Compile.h"
#include "adjoint/Runner/Session/Hooks.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/LocationText.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::diff;

// Lines of the list end in `at FILE:LINE:COLUMN`.
static Location parseLocation(MLIRContext *context, StringRef line) {
  StringRef text = line.rsplit(" at ").second;
  auto [start, columnText] = text.rsplit(':');
  auto [file, lineText] = start.rsplit(':');
  unsigned number = 0, column = 0;
  if (file.empty() || lineText.getAsInteger(10, number) || columnText.getAsInteger(10, column))
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, file, number, column);
}

/// The list has a line for each operation, each before those inside of it.
static bool setLocations(ModuleOp module, StringRef list) {
  SmallVector<StringRef> lines;
  list.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  size_t number = 0;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (number < lines.size())
      op->setLoc(parseLocation(module.getContext(), lines[number]));
    ++number;
  });
  return number == lines.size();
}

// Reads the program after ad-plan-memory and proves its plan.
static std::optional<WrongPlan> findWrongPlanOf(const TracedStage &planned) {
  DialectRegistry registry;
  runner::registerCompileDialects(registry);
  runner::standardHooks().registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::optional<WrongPlan> wrong;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    if (StringRef message = StringRef(text).split("memory plan is wrong: ").second;
        !wrong && !message.empty())
      wrong = WrongPlan{message.str(), locationText(diagnostic.getLocation()), "", "", ""};
    return success();
  });
  auto module = parseSourceString<ModuleOp>(planned.text, &context);
  if (!module || !setLocations(*module, planned.list))
    return std::nullopt;
  SymbolTableCollection symbols;
  for (auto function : module->getOps<func::FuncOp>()) {
    std::optional<PlanConflict> conflict;
    if (function.isExternal() || succeeded(verifyMemoryPlan(function, symbols, &conflict)))
      continue;
    if (wrong && conflict) {
      wrong->writer = locationText(conflict->writer);
      wrong->overwritten = locationText(conflict->overwritten);
      wrong->reader = locationText(conflict->reader);
    }
    break;
  }
  return wrong;
}

std::optional<WrongPlan> mlir::ad::diff::findWrongPlan(llvm::ArrayRef<TracedStage> stages) {
  for (const TracedStage &stage : stages)
    if (stage.pass == "ad-plan-memory")
      if (std::optional<WrongPlan> wrong = findWrongPlanOf(stage))
        return wrong;
  return std::nullopt;
}
