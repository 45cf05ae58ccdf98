// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff bisect: the rewrites that cause a difference of two configurations.
#include "CauseSearch.h"
#include "ProgramCommands.h"
#include "Reduce/ReduceSearch.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir::ad;
using namespace mlir::ad::diff;
using llvm::Expected;
using llvm::StringRef;

namespace {

std::string rewriteText(const Rewrite &rewrite) {
  std::string text = "  " + rewrite.name + " (" + rewrite.permission + ") of " + rewrite.operation + " at " +
                     rewrite.location + "\n";
  if (!rewrite.pass.empty())
    text += "    " + stageText(stageOf(rewrite.pass), rewrite.pass) + "\n";
  return text;
}

bool keepsBits(const Cause &cause) {
  return llvm::all_of(cause.rewrites, [](const Rewrite &rewrite) { return rewrite.permission == "none"; });
}

class BisectReport {
public:
  explicit BisectReport(const DiffOptions &options) : options(options) {}

  Expected<DiffReport> run();

private:
  std::string causeText() const;
  std::string requiredText() const;
  llvm::json::Object toJSON() const;
  Table makeTable() const;

  llvm::Error search();
  /// Search the part of the program where the cause has its effect.
  llvm::Error reduceRewrites();
  /// Rewrites that keep all bits are no cause if a memory plan is wrong.
  llvm::Error checkPlans();
  llvm::Error reduceElsewhere(CauseSearch &causes);
  llvm::Error reduce(Configuration first, Configuration second, ReduceHints hints);

  const DiffOptions &options;
  std::optional<Side> a, b;
  ProgressLine line;
  Cause cause;
  std::optional<Reduction> reduction;
  std::string notReduced; ///< why there is no reduction
  unsigned executions = 0;
  double seconds = 0;
};

// Of several rewrites, none differs alone.
std::string proofText(const Cause &cause) {
  std::string it = cause.rewrites.size() == 1 ? "it" : "them", text;
  if (!cause.aloneCompiles)
    text = "not proved: with " + it + " alone, the program does not compile\n";
  else if (cause.alone.empty())
    text = "not proved: with " + it + " alone, the results are equal\n";
  else
    text = "with " + it + " alone, the results differ:\n" + describe(cause.alone);
  text += "without " + it + ", ";
  if (cause.neededToCompile)
    return text + "the program does not compile\n";
  return text + (cause.othersRemain ? "the results still differ: there are other causes\n"
                                    : "the results are equal\n");
}

std::string rewritesText(const Cause &cause) {
  std::string who = cause.kind == CauseKind::Shared
                        ? " of this name that A and B both apply, with different results"
                        : " that only " + cause.side + " applies";
  std::string text = "cause: " + std::to_string(cause.rewrites.size()) + " of " +
                     countText(cause.candidates, "rewrite") + who +
                     (cause.rewrites.size() > 1 ? "; they change the results only together" : "") + "\n";
  for (const Rewrite &rewrite : cause.rewrites)
    text += rewriteText(rewrite);
  if (keepsBits(cause))
    text += "a rewrite with the permission none must keep all bits, so the compiler has a fault: in this "
            "rewrite, or in a later pass\n";
  return text + proofText(cause);
}

std::string BisectReport::causeText() const {
  switch (cause.kind) {
  case CauseKind::None:
    return "no cause: " + noDifference(options.bound);
  case CauseKind::Elsewhere:
    if (reduction && (!reduction->operations.empty() || !reduction->whole.empty()))
      return "no rewrite is found to be the cause\n";
    return "no cause is found: it may be a rewrite that the program needs to compile, such as a "
           "decomposition, a derivative rule, the generated code, or the options themselves\n";
  case CauseKind::Rewrites:
  case CauseKind::Shared:
    break;
  }
  std::string text = rewritesText(cause);
  for (const Cause &other : cause.others)
    text += rewritesText(other);
  return text;
}

// The others of this operation were left out one after the other, and are not the cause.
std::string BisectReport::requiredText() const {
  if (cause.kind != CauseKind::Elsewhere || !reduction || !reduction->isShort || cause.required.empty())
    return "";
  std::string text = "the program does not compile without these rewrites of the operation:\n";
  for (const Rewrite &rewrite : cause.required)
    text += rewriteText(rewrite);
  return text;
}

llvm::json::Array toJSON(const std::vector<Rewrite> &rewrites) {
  llvm::json::Array array;
  for (const Rewrite &rewrite : rewrites)
    array.push_back(llvm::json::Object{{"rewrite", rewrite.name},
                                       {"permission", rewrite.permission},
                                       {"operation", rewrite.operation},
                                       {"location", rewrite.location},
                                       {"stage", stageOf(rewrite.pass)},
                                       {"pass", rewrite.pass}});
  return array;
}

llvm::json::Array othersToJSON(const Cause &cause) {
  llvm::json::Array array;
  for (const Cause &other : cause.others)
    array.push_back(llvm::json::Object{{"side", other.side},
                                       {"candidates", static_cast<int64_t>(other.candidates)},
                                       {"rewrites", toJSON(other.rewrites)},
                                       {"alone", mlir::ad::diff::toJSON(other.alone)}});
  return array;
}

llvm::json::Object BisectReport::toJSON() const {
  constexpr StringRef kinds[] = {"none", "rewrites", "shared", "elsewhere"};
  return llvm::json::Object{{"cause", kinds[static_cast<size_t>(cause.kind)]},
                            {"side", cause.side},
                            {"candidates", static_cast<int64_t>(cause.candidates)},
                            {"rewrites", ::toJSON(cause.rewrites)},
                            {"others", othersToJSON(cause)},
                            {"required", ::toJSON(cause.required)},
                            {"differences", mlir::ad::diff::toJSON(cause.differences)},
                            {"alone", mlir::ad::diff::toJSON(cause.alone)},
                            {"alone_compiles", cause.aloneCompiles},
                            {"others_remain", cause.othersRemain},
                            {"needed_to_compile", cause.neededToCompile},
                            {"executions", static_cast<int64_t>(executions)},
                            {"seconds", seconds}};
}

Table BisectReport::makeTable() const {
  Table table;
  table.header = {"rewrite", "permission", "operation", "location", "stage", "pass"};
  auto add = [&](const Cause &found) {
    for (const Rewrite &rewrite : found.rewrites)
      table.rows.push_back({rewrite.name, rewrite.permission, rewrite.operation, rewrite.location,
                            stageOf(rewrite.pass), rewrite.pass});
  };
  add(cause);
  llvm::for_each(cause.others, add);
  return table;
}

// Where rewrites are is known, so without --output two executions are enough for their effect on the
// operation itself: the program without them against the program with them alone.
llvm::Error BisectReport::reduceRewrites() {
  if (cause.alone.empty())
    return llvm::Error::success();
  Configuration first{*a, {}}, second{*b, {}};
  if (cause.kind == CauseKind::Shared)
    first.only = second.only = cause.allowed;
  else {
    (cause.side == "A" ? first : second).only = cause.allowed;
    (cause.side == "A" ? second : first).only = cause.base;
  }
  ReduceHints hints;
  hints.differences = cause.alone;
  for (const Rewrite &rewrite : cause.rewrites)
    hints.locations.insert(rewrite.location);
  hints.brief = options.output.empty();
  return reduce(std::move(first), std::move(second), std::move(hints));
}

// The fault of a plan can depend on what was fused, so leaving out exact rewrites can hide it.
llvm::Error BisectReport::checkPlans() {
  ReduceHints hints;
  hints.differences = cause.differences;
  hints.plans = true;
  if (llvm::Error error = reduce({*a, {}}, {*b, {}}, std::move(hints)))
    return error;
  if (reduction && reduction->kind == ReductionKind::WrongPlan) {
    Cause plan;
    plan.kind = CauseKind::Elsewhere;
    plan.differences = std::move(cause.differences);
    cause = std::move(plan);
    return llvm::Error::success();
  }
  reduction.reset();
  notReduced.clear();
  return reduceRewrites();
}

// Mostly one operation differs by itself, which is the shortest search. Then only its own rewrites may
// be the cause, else those of all operations.
llvm::Error BisectReport::reduceElsewhere(CauseSearch &causes) {
  auto restricted = [&](const Side &side) -> Configuration {
    auto found = cause.restrictions.find(side.name);
    return found == cause.restrictions.end() ? Configuration{side, {}} : Configuration{side, found->second};
  };
  ReduceHints hints;
  hints.differences = cause.differences;
  hints.beforeLongSearch = [&]() -> Expected<bool> {
    if (llvm::Error error = causes.findOthers(cause))
      return std::move(error);
    return cause.kind != CauseKind::Elsewhere;
  };
  if (llvm::Error error = reduce(restricted(*a), restricted(*b), std::move(hints)))
    return error;
  if (cause.kind != CauseKind::Elsewhere)
    return reduceRewrites();
  if (!reduction)
    return causes.findOthers(cause);
  if (reduction->kind != ReductionKind::Found || !reduction->isShort)
    return llvm::Error::success();
  std::set<std::string> locations;
  for (const Reduction::Operation &operation : reduction->operations)
    locations.insert(operation.location);
  return causes.findShared(cause, &locations, reduction->stage ? reduction->stage->side : "");
}

llvm::Error BisectReport::reduce(Configuration first, Configuration second, ReduceHints hints) {
  reduction.reset();
  ReduceSearch search(options, std::move(first), std::move(second),
                      [&](unsigned execution) { line.show(executions + execution); });
  llvm::Error error = checkSharedInputs(*a, *b);
  if (!error)
    error = search.find(options.output, std::move(hints)).moveInto(reduction);
  executions += search.getExecutions();
  if (!error || !options.output.empty())
    return error;
  std::string reason = mlir::ad::runner::consumeExitError(std::move(error)).second;
  if (reason.empty()) // a message with its location, on standard error
    reason = "the program fails on the reference interpreter, see the error above";
  notReduced = "the operation is not searched: " + reason + "\n";
  return llvm::Error::success();
}

llvm::Error BisectReport::search() {
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  RunnerProcess process(*folder, options.inputs[0], options.program);
  CauseSearch causes(process, options.bound, [&](unsigned execution) { line.show(executions + execution); });
  llvm::Error error = causes.find(*a, *b).moveInto(cause);
  if (!error && cause.kind == CauseKind::Rewrites)
    error = keepsBits(cause) && llvm::all_of(cause.others, keepsBits) ? checkPlans() : reduceRewrites();
  else if (!error && cause.kind == CauseKind::Elsewhere)
    error = reduceElsewhere(causes);
  executions += process.getCount();
  return error;
}

Expected<DiffReport> BisectReport::run() {
  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = parseSide("A", options.sideA, options.runnerA).moveInto(a))
    return std::move(error);
  if (llvm::Error error = parseSide("B", options.sideB, options.runnerB).moveInto(b))
    return std::move(error);
  if (llvm::Error error = checkNewFolder(options.output))
    return std::move(error);
  if (llvm::Error error = options.output.empty() ? llvm::Error::success() : checkSharedInputs(*a, *b))
    return std::move(error);
  if (llvm::Error error = search())
    return std::move(error);
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  DiffReport report;
  report.title = "ad-diff bisect " + options.inputs[0];
  report.text = "A: " + textOf(*a) + "\nB: " + textOf(*b) + "\n";
  if (!cause.differences.empty())
    report.text += "results that differ:\n" + describe(cause.differences);
  report.text += causeText() + (reduction ? describe(*reduction, options.bound) : notReduced) +
                 requiredText() + countText(executions, "execution") + ", " +
                 llvm::formatv("{0:f1} s\n", seconds).str();
  report.json = toJSON();
  if (reduction)
    report.json["reduced"] = mlir::ad::diff::toJSON(*reduction);
  report.legend =
      "A and B are the two configurations. A cause is a rewrite of the compiler, or the operation and the "
      "pass, that alone makes the results differ; the permission is what allows the rewrite, the pass the "
      "one that applies it. "
      "amplification: the largest l2 of a result of the program, divided by that of the operation itself.";
  warnOfBlindRel(report, cause.relBlind);
  report.table = makeTable();
  report.boundHolds = !options.bound || cause.differences.empty();
  return std::move(report);
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runBisect(const DiffOptions &options) {
  return BisectReport(options).run();
}
