// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that differ by themselves, and derivatives that do: one program has all of them side by side, so
// that two executions find them.
#include "ReduceLevel.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::diff;
using llvm::Error;
using llvm::Expected;

Reduction::Operation mlir::ad::diff::describeOperation(Operation *op) {
  return {op->getName().getStringRef().str(), locationText(op->getLoc()), ""};
}

static std::string identify(Operation *op) {
  return op->getName().getStringRef().str() + " " + locationText(op->getLoc());
}

static void addCalled(Operation *op, ModuleOp source, std::set<std::string> &seen,
                      std::set<std::string> &found) {
  StringAttr callee;
  if (auto call = dyn_cast<func::CallOp>(op))
    callee = call.getCalleeAttr().getAttr();
  else if (auto call = dyn_cast<VjpOp>(op))
    callee = call.getCalleeAttr().getAttr();
  else if (auto call = dyn_cast<ValueAndGradOp>(op))
    callee = call.getCalleeAttr().getAttr();
  if (!callee || !seen.insert(callee.str()).second)
    return;
  if (auto function = source.lookupSymbol<func::FuncOp>(callee))
    function.walk([&](Operation *inner) {
      found.insert(identify(inner));
      addCalled(inner, source, seen, found);
    });
}

std::set<std::string> mlir::ad::diff::differentiatedOperations(ModuleOp source) {
  std::set<std::string> seen, found;
  source.walk([&](Operation *op) {
    if (isa<VjpOp, ValueAndGradOp>(op))
      addCalled(op, source, seen, found);
  });
  return found;
}

// Received values have names of their own, and say nothing about one operation.
static std::optional<size_t> resultNumber(const ResultDiff &difference) {
  StringRef name = difference.name;
  size_t number = 0;
  if (!name.consume_front("r") || name.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

Expected<std::map<ChangeSet, ReduceSearch::Differences>>
ReduceSearch::findAlone(const Level &level, const std::vector<ChangeSet> &groups, const SliceMaker &make) {
  std::map<ChangeSet, Differences> found;
  if (groups.empty())
    return found;
  std::vector<OperationGroup> operations;
  for (const ChangeSet &group : groups)
    operations.push_back(level.select(group));
  ProgramSlice slice = make(entry, operations, *level.values);
  std::vector<size_t> producers = slice.producers;
  Expected<Differences> differences = compareSlice(std::move(slice));
  if (differences) {
    for (ResultDiff &difference : *differences)
      if (std::optional<size_t> number = resultNumber(difference); number && *number < producers.size()) {
        auto first = llvm::find(producers, producers[*number]);
        difference.name =
            "result " + std::to_string(*number - static_cast<size_t>(first - producers.begin()));
        found[groups[producers[*number]]].push_back(std::move(difference));
      }
    return found;
  }
  llvm::consumeError(differences.takeError());
  constexpr unsigned maxFailures = 8; // then something fails in most parts
  if (++reduction.failures > maxFailures || groups.size() == 1)
    return found;
  auto middle = groups.begin() + static_cast<ptrdiff_t>(groups.size() / 2);
  for (const std::vector<ChangeSet> &half :
       {std::vector<ChangeSet>(groups.begin(), middle), std::vector<ChangeSet>(middle, groups.end())}) {
    Expected<std::map<ChangeSet, Differences>> inHalf = findAlone(level, half, make);
    if (!inHalf)
      return inHalf.takeError();
    found.insert(inHalf->begin(), inHalf->end());
  }
  return found;
}

static bool isAt(Operation *unit, const std::set<std::string> &locations) {
  return unit
      ->walk([&](Operation *op) {
        return locations.count(locationText(op->getLoc())) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static std::vector<ChangeSet> singlesOf(const ChangeSet &units) {
  std::vector<ChangeSet> groups;
  for (size_t unit : units)
    groups.push_back({unit});
  return groups;
}

Expected<std::map<ChangeSet, ReduceSearch::Differences>>
ReduceSearch::findFew(const Level &level, const ChangeSet &among, unsigned size) {
  std::vector<ChangeSet> groups = singlesOf(among);
  if (size == 2) {
    groups.clear();
    for (size_t unit : among)
      for (size_t producer : level.producersOf(unit))
        groups.push_back({producer, unit});
  }
  return findAlone(level, groups, makeIsolated);
}

Error ReduceSearch::findBriefly(Level &level, const ReduceHints &hints) {
  ChangeSet units;
  for (size_t number : level.all())
    if (isAt(level.units[number], hints.locations))
      units.push_back(number);
  Expected<std::map<ChangeSet, Differences>> found = findFew(level, units, 1);
  if (found && found->empty())
    found = findFew(level, units, 2);
  if (!found)
    return found.takeError();
  reduction.kind = found->empty() ? ReductionKind::Unknown : ReductionKind::Alone;
  if (found->empty())
    return Error::success();
  reduction.reduced = std::move(found->begin()->second);
  for (Operation *op : level.select(found->begin()->first))
    reduction.operations.push_back(describeOperation(op));
  return Error::success();
}

Expected<bool> ReduceSearch::findDerivativeIn(Block &block, std::set<std::string> &seen, StringRef output) {
  ChangeSet candidates;
  std::vector<Operation *> operations = sliceUnits(block);
  for (auto [number, op] : llvm::enumerate(operations))
    if (hasDerivative(op) && differentiated.count(identify(op)) && seen.insert(identify(op)).second)
      candidates.push_back(number);
  if (candidates.empty())
    return false;
  Expected<Level> level = record(&block, Occasion::First);
  if (!level)
    return level.takeError();
  Expected<std::map<ChangeSet, Differences>> found =
      findAlone(*level, singlesOf(candidates), makeDerivatives);
  if (!found)
    return found.takeError();
  for (const auto &group : *found) {
    Operation *op = level->units[group.first.front()];
    auto make = [&] { return makeDerivatives(entry, {OperationGroup{op}}, *level->values); };
    if (Error error = compareSlice(make()).moveInto(reduction.reduced))
      return std::move(error);
    if (reduction.reduced.empty())
      continue;
    reduction.kind = ReductionKind::Derivative;
    reduction.operations.push_back(describeOperation(op));
    if (Error error = finish(make(), output))
      return std::move(error);
    return true;
  }
  return false;
}

// The first operation with that name and place is the one that was differentiated; later ones may be of its
// derivative.
Error ReduceSearch::findDerivative(StringRef output) {
  reduction.kind = ReductionKind::Earlier;
  std::set<std::string> seen;
  std::vector<Block *> blocks;
  entry.walk<WalkOrder::PreOrder>([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks) {
    Expected<bool> found = findDerivativeIn(*block, seen, output);
    if (!found)
      return found.takeError();
    if (*found)
      break;
  }
  return Error::success();
}
