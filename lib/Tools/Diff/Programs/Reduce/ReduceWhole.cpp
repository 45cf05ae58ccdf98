// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Differences that only the whole program has: the memory plans of both configurations, and traces of both,
// which show the first value that differs.
#include "../PlanCheck.h"
#include "ReduceLevel.h"
#include "adjoint/Diff/RunMatching.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/LocationText.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::diff;
using llvm::Error;
using llvm::Expected;

// Traces name files without their folders. An operation of the program comes before those of its derivative.
Reduction::Operation ReduceSearch::operationAt(StringRef place, StringRef role) {
  Operation *found = nullptr;
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isHere = !isa<func::FuncOp>(op) && llvm::sys::path::filename(locationText(op->getLoc())) == place;
    found = isHere ? op : nullptr;
    return isHere ? WalkResult::interrupt() : WalkResult::advance();
  });
  Reduction::Operation operation =
      found ? describeOperation(found) : Reduction::Operation{"", place.str(), ""};
  operation.role = role.str();
  return operation;
}

// Tracing may change the program enough to hide the difference.
Error ReduceSearch::traceWhole() {
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  wholeFolder = std::move(*folder);
  RunnerProcess process(*wholeFolder, options.inputs[0], options.program);
  Expected<std::optional<TracedRuns>> runs = traceRuns(process, a, b, notTraced);
  executions += process.getCount();
  if (!runs)
    return runs.takeError();
  if (!*runs)
    return Error::success();
  Expected<Differences> differences = compareRuns((*runs)->a.results, (*runs)->b.results, options.bound);
  if (!differences)
    return differences.takeError();
  if (!differences->empty())
    whole = std::move(*runs);
  return Error::success();
}

// The plans are those of the programs that ran before: a trace has another one. If both are wrong, both
// results may be.
Expected<bool> ReduceSearch::findPlanFault() {
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  RunnerProcess process(*folder, options.inputs[0], options.program);
  std::optional<WrongPlan> wrong[2];
  for (auto [configuration, plan] : {std::pair(&a, &wrong[0]), std::pair(&b, &wrong[1])}) {
    progress(++executions);
    Expected<RunnerProcess::Run> run =
        process.runPlanned(configuration->side, configuration->only ? &*configuration->only : nullptr);
    if (!run)
      return run.takeError();
    if (run->failure.empty())
      *plan = findWrongPlan(run->plan);
  }
  if (!wrong[0] && !wrong[1])
    return false;
  const WrongPlan &plan = wrong[1] ? *wrong[1] : *wrong[0];
  reduction.kind = ReductionKind::WrongPlan;
  reduction.message = plan.message;
  if (plan.writer.empty())
    reduction.whole = {operationAt(plan.place, "")};
  else
    reduction.whole = {operationAt(plan.writer, "writes"), operationAt(plan.overwritten, "is overwritten"),
                       operationAt(plan.reader, "reads it later")};
  reduction.stage = StageFinding{"kernels",
                                 "ad-plan-memory",
                                 {},
                                 !wrong[0]   ? "B"
                                 : !wrong[1] ? "A"
                                             : "A and B"};
  return true;
}

// All values before the first one that differs are equal. A guessed pair may be of two different values.
Expected<bool> ReduceSearch::findFirstValue() {
  if (Error error = traceWhole())
    return std::move(error);
  if (!whole)
    return false;
  Expected<std::vector<Record>> left = readRecords(whole->a.trace), right = readRecords(whole->b.trace);
  if (!left || !right)
    return llvm::joinErrors(left.takeError(), right.takeError());
  RunMatching matching = matchRuns(*left, *right);
  auto first = llvm::find_if(matching.pairs, [&](const MatchedValues &pair) {
    const Record &l = (*left)[pair.left], &r = (*right)[pair.right];
    return l.kind == "RESULT" && !pair.isGuess && compareBits(l, r) == Verdict::Different;
  });
  if (first == matching.pairs.end())
    return false;
  const Record &record = (*left)[first->left];
  reduction.kind = ReductionKind::InProgram;
  reduction.whole = {operationAt(record.location, "computes " + record.name)};
  StageSearch stages(options, *wholeFolder, options.inputs[0], options.program);
  if (Error error = stages.find(*whole).moveInto(reduction.stage))
    return std::move(error);
  return true;
}
