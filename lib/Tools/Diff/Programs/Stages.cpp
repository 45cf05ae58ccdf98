// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff stages: the values of a program after each pass, on the reference interpreter, and on each target.
#include "ProgramCommands.h"
#include "ProgramOptions.h"
#include "StageCollector.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// The results and received values of a run by name; a name may be received several times.
using ValuesByName = llvm::MapVector<StringRef, std::vector<const Tensor *>>;

/// A stage that ran.
struct StageRun {
  std::string name;
  size_t before; ///< the number of the stage that it was made of
  RunValues values;
};

/// How the values of one name differ between two stages.
struct ValueChange {
  std::string stage, value;
  bool sameBits = true;
  MaxDiff change, total; ///< from the stage before, and from the program as it was written
};

ValuesByName byName(const RunValues &values) {
  ValuesByName named;
  for (const NamedTensor &value : values.results)
    named[value.name].push_back(&value.value);
  for (const NamedTensor &value : values.received)
    named[value.name].push_back(&value.value);
  return named;
}

void keepLarger(MaxDiff &all, const MaxDiff &one) {
  all.raiseAbs(one);
  all.rel = std::max(all.rel, one.rel);
  all.l2 = std::max(all.l2, one.l2);
  all.max = std::max(all.max, one.max);
  all.largest = std::max(all.largest, one.largest);
  all.dnan += one.dnan;
  all.ulp = all.ulp && one.ulp ? std::optional(std::max(*all.ulp, *one.ulp)) : std::nullopt;
}

class StagesReport {
public:
  explicit StagesReport(const DiffOptions &options) : options(options) {}
  Expected<DiffReport> run();

private:
  Error runWritten();
  Error runTarget(Target target);
  /// A pass that ran before gets a number.
  std::string uniqueName(const std::string &name) const;
  /// Compares the values of one name, in every execution, and sets whether bits are the same.
  Expected<MaxDiff> compare(StringRef stage, const ValuesByName &left, const ValuesByName &right,
                            StringRef name, bool &sameBits) const;
  Error compareStages();
  void addText();
  void checkBound();
  Table makeTable() const;
  llvm::json::Object toJSON() const;

  const DiffOptions &options;
  std::vector<StageRun> runs; // first the program as it was written
  std::vector<std::string> frontendTexts;
  std::vector<size_t> frontendRuns; // by stage: the run with that text
  std::vector<ValueChange> changes;
  DiffReport report;
};

Error StagesReport::runWritten() {
  Expected<std::unique_ptr<ProgramRun>> program =
      loadProgram(options, options.inputs.front(), Target::Reference);
  if (!program)
    return program.takeError();
  Expected<RunValues> values = (*program)->run();
  if (!values)
    return values.takeError();
  runs.push_back({"as written", 0, std::move(*values)});
  return Error::success();
}

std::string StagesReport::uniqueName(const std::string &name) const {
  auto count = llvm::count_if(runs, [&](const StageRun &run) {
    return run.name == name || StringRef(run.name).starts_with(name + " (");
  });
  return count == 0 ? name : name + " (" + std::to_string(count + 1) + ")";
}

// Stages that an earlier target had do not run again.
Error StagesReport::runTarget(Target target) {
  StageCollector collector;
  Expected<std::unique_ptr<ProgramRun>> program =
      loadProgram(options, options.inputs.front(), target, &collector);
  if (!program)
    return program.takeError();
  size_t before = 0;
  std::string prefix = frontendTexts.empty() ? "" : targetName(target).str() + ": ";
  for (ProgramStage &stage : collector.stages) {
    auto known = llvm::find(frontendTexts, stage.text);
    if (known != frontendTexts.end()) {
      before = frontendRuns[static_cast<size_t>(known - frontendTexts.begin())];
      continue;
    }
    Expected<RunValues> values = (*program)->interpret(*stage.module);
    if (!values)
      return values.takeError();
    runs.push_back({uniqueName(prefix + stage.name), before, std::move(*values)});
    before = runs.size() - 1;
    frontendTexts.push_back(stage.text);
    frontendRuns.push_back(before);
  }
  Expected<RunValues> values = (*program)->run();
  if (!values)
    return values.takeError();
  runs.push_back({"target " + targetName(target).str(), before, std::move(*values)});
  return Error::success();
}

Expected<MaxDiff> StagesReport::compare(StringRef stage, const ValuesByName &left, const ValuesByName &right,
                                        StringRef name, bool &sameBits) const {
  auto l = left.find(name), r = right.find(name);
  if (l == left.end() || r == right.end() || l->second.size() != r->second.size())
    return usageError("'" + name + "' has another number of values " + stage);
  MaxDiff all;
  all.ulp = 0;
  for (auto [a, b] : llvm::zip(l->second, r->second)) {
    if (a->getShape() != b->getShape())
      return usageError("'" + name + "' has another size " + stage);
    keepLarger(all, compareTensors(a->view(), b->view()));
    sameBits &= contentHash(a->view()) == contentHash(b->view());
  }
  return all;
}

Error StagesReport::compareStages() {
  ValuesByName written = byName(runs.front().values);
  for (size_t number = 1; number < runs.size(); ++number) {
    const StageRun &run = runs[number];
    ValuesByName before = byName(runs[run.before].values), now = byName(run.values);
    for (const auto &entry : now) {
      ValueChange change{run.name, entry.first.str(), true, {}, {}};
      bool ignored = true;
      std::string where = "after " + run.name;
      if (Error error = compare(where, before, now, entry.first, change.sameBits).moveInto(change.change))
        return error;
      if (Error error = compare(where, written, now, entry.first, ignored).moveInto(change.total))
        return error;
      changes.push_back(std::move(change));
    }
  }
  return Error::success();
}

Table StagesReport::makeTable() const {
  Table table;
  table.header = {"stage", "value", "bits",        "abs",        "rel",         "l2",
                  "max",   "ulp",   "abs_written", "l2_written", "max_written", "ulp_written"};
  for (const ValueChange &change : changes) {
    std::vector<std::string> row = {change.stage, change.value, change.sameBits ? "equal" : "changed",
                                    absText(change.change), pythonNumber(change.change.rel)};
    row.insert(row.end(), {pythonNumber(change.change.l2), pythonNumber(change.change.max),
                           ulpText(change.change), absText(change.total), pythonNumber(change.total.l2),
                           pythonNumber(change.total.max), ulpText(change.total)});
    table.rows.push_back(std::move(row));
    table.rowClasses.push_back(change.sameBits ? "" : "different");
  }
  return table;
}

void StagesReport::addText() {
  report.tableText = makeTable().toText();
  auto first = llvm::find_if(changes, [](const ValueChange &change) { return !change.sameBits; });
  report.text = std::to_string(runs.size()) + " stages and targets, " +
                countText(byName(runs.front().values).size(), "value") + ": ";
  if (first == changes.end()) {
    report.text += "all equal\n";
    return;
  }
  auto changed = llvm::count_if(changes, [](const ValueChange &change) { return !change.sameBits; });
  report.text += countText(static_cast<uint64_t>(changed), "change") + "\nfirst change: '" + first->value +
                 "' " + (StringRef(first->stage).starts_with("target ") ? "on " : "after ") + first->stage +
                 ", abs=" + absText(first->change) + ", rel=" + pythonNumber(first->change.rel) +
                 measuresText(first->change) + "\n";
}

// A bound is about the distance from the program as it was written, and about the number of changes.
void StagesReport::checkBound() {
  if (!options.bound)
    return;
  const Bound &bound = *options.bound;
  auto changed = llvm::count_if(changes, [](const ValueChange &change) { return !change.sameBits; });
  report.boundHolds =
      static_cast<double>(changed) <= bound.different.value_or(static_cast<double>(changed)) &&
      llvm::all_of(changes, [&](const ValueChange &change) { return isWithin(change.total, bound); });
  report.text += "bound " + bound.text + (report.boundHolds ? " holds\n" : " does not hold\n");
}

llvm::json::Object StagesReport::toJSON() const {
  llvm::json::Array rows;
  auto distances = [](const MaxDiff &diff) {
    llvm::json::Object object{{"abs", jsonNumber(diff.abs, diff.integerAbs)}, {"rel", jsonNumber(diff.rel)}};
    addNorms(object, diff);
    if (diff.ulp)
      object["ulp"] = *diff.ulp == UINT64_MAX ? llvm::json::Value("inf") : llvm::json::Value(*diff.ulp);
    return object;
  };
  for (const ValueChange &change : changes)
    rows.push_back(llvm::json::Object{{"stage", change.stage},
                                      {"value", change.value},
                                      {"equal", change.sameBits},
                                      {"change", distances(change.change)},
                                      {"from_written", distances(change.total)}});
  llvm::json::Object object{{"stages", std::move(rows)}};
  if (options.bound)
    object["bound"] = options.bound->text;
  return object;
}

Expected<DiffReport> StagesReport::run() {
  if (Error error = runWritten())
    return std::move(error);
  for (Target target : {Target::Cpu, Target::GpuSim})
    if (Error error = runTarget(target))
      return std::move(error);
  if (Error error = compareStages())
    return std::move(error);
  report.title = "Stages of " + options.inputs.front();
  addText();
  checkBound();
  std::vector<std::string> relBlind;
  for (const ValueChange &change : changes)
    if (change.total.isRelBlind() && !llvm::is_contained(relBlind, change.value))
      relBlind.push_back(change.value);
  warnOfBlindRel(report, relBlind);
  report.json = toJSON();
  report.legend =
      "A stage is the program after a pass, or on a target. Each row has a result of the program: "
      "whether its bits are those of the stage before (bits), its differences from that stage (abs, rel, l2, "
      "max, ulp), and from the program as it was written (those with _written). abs, rel and ulp are the "
      "largest of an element; l2 and max are norms of the difference, divided by those of the value before.";
  report.table = makeTable();
  return std::move(report);
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runStages(const DiffOptions &options) {
  return StagesReport(options).run();
}
