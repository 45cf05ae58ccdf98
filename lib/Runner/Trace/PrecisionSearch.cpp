// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Each trial is a text of the program with `ad.precision = #ad.precision<never>` on some operations, which
// the reference interpreter runs.
#include "adjoint/Runner/Trace/PrecisionSearch.h"
#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "adjoint/Dialect/AD/Transforms/PolicyNames.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"

#include <numeric>

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using mlir::ad::PrecisionAttr;
using mlir::ad::numerics::PrecisionRule;

/// The functions that the entry reaches, itself included.
static llvm::SmallVector<mlir::func::FuncOp> reachedFunctions(mlir::ModuleOp module, StringRef entry) {
  llvm::SmallVector<mlir::func::FuncOp> reached;
  if (auto function = module.lookupSymbol<mlir::func::FuncOp>(entry))
    reached.push_back(function);
  for (size_t next = 0; next < reached.size(); ++next)
    reached[next]->walk([&](mlir::Operation *op) {
      op->getAttrDictionary().walk([&](mlir::SymbolRefAttr symbol) {
        auto function = module.lookupSymbol<mlir::func::FuncOp>(symbol.getRootReference());
        if (function && !llvm::is_contained(reached, function))
          reached.push_back(function);
      });
    });
  return reached;
}

Error PrecisionSearch::parse() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect>();
  hooks.registerDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<ADDialect>(); // its attributes are set, also in a program without its operations
  module = mlir::parseSourceString<mlir::ModuleOp>(problem.text, context.get(), problem.name);
  return module ? Error::success() : exitError(ExitProgramError, "");
}

std::optional<PrecisionRule> PrecisionSearch::castingRule(mlir::Operation *op) const {
  if (!isa<FusableOpInterface, ElementwiseOpInterface>(op) || isa<CastStochasticOp>(op) ||
      op->hasAttr(kPrecisionAttr))
    return std::nullopt;
  auto isF32 = [](mlir::Value value) {
    auto type = dyn_cast<mlir::RankedTensorType>(value.getType());
    return type && type.getElementType().isF32();
  };
  if (llvm::none_of(op->getOperands(), isF32))
    return std::nullopt;
  StringRef name = op->getName().getDialectNamespace() == "ad" ? op->getName().stripDialect()
                                                               : op->getName().getStringRef();
  PrecisionRule rule = policy.find(name).value_or(policy.defaultRule);
  return rule == PrecisionRule::never ? std::nullopt : std::optional<PrecisionRule>(rule);
}

// Delayed scaling fixes the number of 8-bit contractions, and the search changes it.
static Error refuseDelayedScales(mlir::func::FuncOp function) {
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (function.getArgAttr(number, mlir::ad::kScalesAttr))
      return usageError(mlir::ad::locationText(function.getLoc()) + ": argument " + llvm::Twine(number) +
                        " of @" + function.getSymName() + " has " + mlir::ad::kScalesAttr +
                        ", a row for each 8-bit contraction, whose number the search changes; remove it, and "
                        "each contraction computes its scales from its operands");
  return Error::success();
}

// Operations that always compute in the narrow type come first.
Error PrecisionSearch::findCandidates() {
  std::vector<mlir::Operation *> following;
  for (mlir::func::FuncOp function : reachedFunctions(*module, problem.entry)) {
    if (function->hasAttr(kPrecisionAttr))
      return usageError(locationText(function.getLoc()) + ": function @" + function.getSymName() +
                        " has a policy of its own, in place of " + problem.policyOption + "; remove it");
    if (numerics::computesInBytes(policy))
      if (Error error = refuseDelayedScales(function))
        return error;
    function->walk([&](mlir::Operation *op) {
      if (std::optional<PrecisionRule> rule = castingRule(op))
        (*rule == PrecisionRule::follow ? following : candidates).push_back(op);
    });
  }
  candidates.insert(candidates.end(), following.begin(), following.end());
  return Error::success();
}

Expected<RunValues> PrecisionSearch::run(const std::string &text, StringRef policyName) {
  ++executions;
  return problem.run(text, policyName);
}

static std::string printed(mlir::ModuleOp module, bool withLocations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  module->print(stream, flags.enableDebugInfo(withLocations, /*prettyForm=*/false));
  stream << "\n";
  return text;
}

Error PrecisionSearch::prepare() {
  Expected<mlir::ad::numerics::PrecisionPolicy> loaded =
      numerics::loadPolicy(problem.policy, /*takesNone=*/false);
  if (!loaded)
    return usageError(problem.policyOption + ": " + llvm::toString(loaded.takeError()));
  policy = std::move(*loaded);
  if (Error error = parse())
    return error;
  if (std::string wrong = mlir::ad::checkListedOperations(policy, context.get()); !wrong.empty())
    return usageError(problem.policyOption + ": " + wrong);
  if (Error error = findCandidates())
    return error;
  return runExpected();
}

Error PrecisionSearch::runExpected() {
  std::string text = printed(*module, /*withLocations=*/true);
  if (!problem.runExact)
    return run(text, kNoPrecision).moveInto(exact.actual);
  ++executions;
  return problem.runExact(text, kNoPrecision).moveInto(exact);
}

void PrecisionSearch::setRules(const ChangeSet &kept) {
  bool isFile = StringRef(problem.policy).ends_with(".yaml");
  (*module)->setAttr(kPrecisionAttr, isFile ? precisionAttrOf(context.get(), policy)
                                            : precisionAttrOf(context.get(), problem.policy));
  for (mlir::Operation *op : candidates)
    op->removeAttr(kPrecisionAttr);
  for (size_t index : kept)
    candidates[index]->setAttr(kPrecisionAttr, precisionAttrOf(context.get(), "never"));
}

std::string PrecisionSearch::annotate(const ChangeSet &kept) {
  setRules(kept);
  return printed(*module, /*withLocations=*/false);
}

std::string PrecisionSearch::annotateForRun(const ChangeSet &kept) {
  setRules(kept);
  return printed(*module, /*withLocations=*/true);
}

Expected<bool> PrecisionSearch::keepsBound(const std::string &text) {
  Expected<RunValues> got = run(text, "");
  if (!got)
    return got.takeError();
  diffs.clear();
  const RunValues &expected = exact.actual;
  bool holds =
      got->results.size() == expected.results.size() && got->received.size() == expected.received.size();
  if (!holds)
    return false;
  auto compare = [&](llvm::ArrayRef<NamedTensor> left, llvm::ArrayRef<reference::Tensor> wide,
                     llvm::ArrayRef<NamedTensor> right) {
    for (auto [index, want] : llvm::enumerate(left)) {
      adrt_tensor view = wide.empty() ? want.value.view() : wide[index].view();
      diffs.push_back({want.name, compareTensors(view, right[index].value.view())});
      holds &= isWithin(diffs.back().diff, problem.bound);
    }
  };
  compare(expected.results, exact.results, got->results);
  compare(expected.received, exact.received, got->received);
  return holds;
}

Expected<std::optional<ChangeSet>> PrecisionSearch::find() {
  MinimalSetSearch search([&](const ChangeSet &kept) { return keepsBound(annotateForRun(kept)); });
  Expected<bool> none = search.has({});
  if (!none)
    return none.takeError();
  if (*none)
    return ChangeSet();
  ChangeSet all(candidates.size());
  std::iota(all.begin(), all.end(), 0);
  Expected<bool> every = search.has(all);
  if (!every)
    return every.takeError();
  if (!*every)
    return std::nullopt;
  Expected<ChangeSet> found = search.find(candidates.size());
  if (!found)
    return found.takeError();
  // Errors may cancel, so that an operation in f32 makes the result worse and the set is not minimal.
  if (Error error = search.dropNeedless(*found))
    return std::move(error);
  return std::move(*found);
}
