// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The parts are taken from the differentiated program before any option about numerics, precision or kernels:
// each configuration applies its own to the part, as to the whole program.
#include "../ProgramOptions.h"
#include "../SourceProgram.h"
#include "ReduceLevel.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/LocationText.h"
#include "adjoint/Support/Npy.h"
#include "adjoint/Support/OutputFile.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

std::optional<double> Reduction::amplification() const {
  auto largest = [](const std::vector<ResultDiff> &results) {
    double l2 = 0;
    for (const ResultDiff &result : results)
      l2 = std::max(l2, result.diff.l2);
    return l2;
  };
  double whole = largest(differences), part = largest(reduced);
  if (!(whole > 0) || !(part > 0) || std::isinf(whole) || std::isinf(part))
    return std::nullopt;
  return whole / part;
}

ReduceSearch::ReduceSearch(const DiffOptions &options, Configuration a, Configuration b,
                           std::function<void(unsigned)> progress)
    : options(options), a(std::move(a)), b(std::move(b)), progress(std::move(progress)) {}
ReduceSearch::~ReduceSearch() = default;

Error ReduceSearch::load() {
  SourceObserver observer;
  if (Error error =
          compileProgram(options, options.inputs[0], Target::Reference, &observer).moveInto(program))
    return error;
  if (Error error = program->bind())
    return error;
  source = parseSourceString<ModuleOp>(observer.source, program->getModule().getContext());
  if (!source)
    return exitError(ExitProgramError, "internal error: the text of the program does not parse");
  StringRef name = program->getSignature().entry;
  differentiated = differentiatedOperations(*source);
  if (Error error = differentiateSource(*source, name))
    return error;
  entry = source->lookupSymbol<func::FuncOp>(name);
  return Error::success();
}

Expected<ReduceSearch::Level> ReduceSearch::record(Block *block, Occasion occasion) {
  Level level;
  level.block = block;
  level.units = sliceUnits(*block);
  level.values = std::make_unique<BlockValues>(block, occasion);
  Expected<RunValues> values = program->interpret(*source, level.values.get());
  if (!values)
    return values.takeError();
  return std::move(level);
}

Expected<ReduceSearch::Differences> ReduceSearch::compare(const TemporaryFolder &folder,
                                                          const std::string &path,
                                                          std::vector<std::string> inputs,
                                                          std::vector<std::string> *relBlind) {
  RunnerProcess process(folder, path, std::move(inputs));
  auto run = [&](const Configuration &configuration) -> Expected<RunnerProcess::Run> {
    progress(++executions);
    Expected<RunnerProcess::Run> run =
        process.run(configuration.side, configuration.only ? &*configuration.only : nullptr);
    if (run && !run->failure.empty())
      return usageError(run->failure);
    return run;
  };
  Expected<RunnerProcess::Run> runA = run(a);
  if (!runA)
    return runA.takeError();
  Expected<RunnerProcess::Run> runB = run(b);
  if (!runB)
    return runB.takeError();
  return compareRuns(runA->results, runB->results, options.bound, relBlind);
}

//===- Slices as files ------------------------------------------------------===//

// Sources of feeds that a loop of the slice still reads.
static bool feedsSlice(ModuleOp module, StringRef option) {
  if (!option.consume_front("--feed="))
    return false;
  StringRef name = option.split('=').first;
  return module
      .walk([&](ad::FeedOp feed) {
        return feed.getName() == name ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Expected<std::vector<std::string>> ReduceSearch::write(ProgramSlice &slice, const TemporaryFolder &folder,
                                                       StringRef path) {
  std::string text = textOf(*slice.module);
  if (Error error = writeFile(folder.file("program.mlir"), {StringRef(text)}))
    return std::move(error);
  std::vector<std::string> words;
  if (entry.getName() != "main")
    words.push_back("--entry=" + entry.getName().str());
  for (const ProgramSlice::Argument &argument : slice.arguments) {
    if (!argument.source.empty()) {
      words.push_back("--arg=" + argument.name + "=" + argument.source);
      continue;
    }
    if (Error error = writeNpy(folder.file(argument.name + ".npy"), argument.value.view()))
      return std::move(error);
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, argument.name + ".npy");
    words.push_back(("--arg=" + argument.name + "=" + file).str());
  }
  for (const std::string &option : options.program)
    if (!isInputOption(option) || feedsSlice(*slice.module, option))
      words.push_back(option);
  return words;
}

Expected<ReduceSearch::SliceFiles> ReduceSearch::writeTemporary(ProgramSlice &slice) {
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  Expected<std::vector<std::string>> inputs = write(slice, *folder, folder->file(""));
  if (!inputs)
    return inputs.takeError();
  return SliceFiles{std::move(*folder), std::move(*inputs)};
}

Expected<ReduceSearch::Differences> ReduceSearch::compareSlice(ProgramSlice slice) {
  if (!slice.module)
    return Differences();
  Expected<SliceFiles> files = writeTemporary(slice);
  if (!files)
    return files.takeError();
  return compare(files->folder, files->folder.file("program.mlir"), std::move(files->inputs));
}

// All files have their final content before the folder has its name.
Error ReduceSearch::publish(ProgramSlice &slice, StringRef output) {
  llvm::SmallString<128> parent(output);
  if (std::error_code error = llvm::sys::fs::make_absolute(parent))
    return usageError("cannot find '" + output + "': " + error.message());
  llvm::sys::path::remove_dots(parent, /*remove_dot_dot=*/true);
  llvm::sys::path::remove_filename(parent);
  Expected<TemporaryFolder> folder = TemporaryFolder::create(parent);
  if (!folder)
    return folder.takeError();
  Expected<std::vector<std::string>> words = write(slice, *folder, output);
  if (!words)
    return words.takeError();
  if (Error error = writeFile(folder->file("arguments"), {StringRef(llvm::join(*words, " ") + "\n")}))
    return error;
  llvm::sys::fs::setPermissions(folder->file(""), llvm::sys::fs::all_read | llvm::sys::fs::all_exe |
                                                      llvm::sys::fs::owner_write);
  return folder->publish(output);
}

// The program is traced where it is, so that both traces have its text.
Error ReduceSearch::finish(ProgramSlice slice, StringRef output) {
  Expected<SliceFiles> files = writeTemporary(slice);
  if (!files)
    return files.takeError();
  if (reduction.kind == ReductionKind::WrongPlan) // the stage is known
    return publish(slice, output);
  std::string program = files->folder.file("program.mlir");
  RunnerProcess process(files->folder, program, files->inputs);
  Expected<std::optional<TracedRuns>> runs = traceRuns(process, a, b, reduction.noStage);
  executions += process.getCount();
  if (!runs)
    return runs.takeError();
  if (*runs) {
    StageSearch stages(options, files->folder, program, std::move(files->inputs));
    if (Error error = stages.find(**runs).moveInto(reduction.stage))
      return error;
  }
  return output.empty() ? Error::success() : publish(slice, output);
}

//===- Search ---------------------------------------------------------------===//

// A part that does not compile or run by itself does not count as one that differs.
Expected<bool> ReduceSearch::differs(Level &level, const ChangeSet &units) {
  if (auto known = level.known.find(units); known != level.known.end())
    return !known->second.empty();
  Expected<Differences> differences = compareSlice(makeSlice(entry, level.select(units), *level.values));
  if (!differences) {
    if (units.size() == level.units.size() && reduction.failures == 0)
      return differences.takeError();
    llvm::consumeError(differences.takeError());
    ++reduction.failures;
    differences = Differences();
  }
  return !(level.known[units] = std::move(*differences)).empty();
}

bool ReduceSearch::isTimeOver() {
  auto elapsed = std::chrono::steady_clock::now() - start;
  reduction.ended |= elapsed >= std::chrono::seconds(options.seconds);
  return reduction.ended;
}

// When the time is over, no further part runs, and the smallest one that differed is the answer.
Expected<ChangeSet> ReduceSearch::minimizeAll(Level &level) {
  MinimalSetSearch search([&](const ChangeSet &units) -> Expected<bool> {
    bool isWhole = units.size() == level.units.size();
    return !isWhole && isTimeOver() ? Expected<bool>(false) : differs(level, units);
  });
  ChangeSet all = level.all();
  Expected<bool> whole = search.has(all);
  if (!whole)
    return whole.takeError();
  if (!*whole)
    return ChangeSet();
  Expected<ChangeSet> found = search.find(all.size());
  if (!found)
    return found.takeError();
  // If operations hide the differences of others, the found ones may not differ alone.
  Expected<bool> holds = search.has(*found);
  if (!holds)
    return holds.takeError();
  if (!*holds)
    found = std::move(all);
  if (Error error = search.dropNeedless(*found))
    return std::move(error);
  return reduction.ended ? level.smallestDifferent() : std::move(*found);
}

Expected<ChangeSet> ReduceSearch::findFewProved(Level &level, unsigned size) {
  constexpr size_t maxTries = 3;
  Expected<std::map<ChangeSet, Differences>> found = findFew(level, level.all(), size);
  if (!found)
    return found.takeError();
  size_t tries = 0;
  for (const auto &[group, ignored] : *found) {
    if (tries++ == maxTries)
      break;
    Expected<bool> enough = differs(level, group);
    if (!enough)
      return enough.takeError();
    if (!*enough)
      continue;
    // A single operation of the pair is not excluded if single ones differed that were not tried.
    ChangeSet units = group;
    MinimalSetSearch search([&](const ChangeSet &changes) { return differs(level, changes); });
    if (level.singlesDiffer)
      if (Error error = search.dropNeedless(units))
        return std::move(error);
    return units;
  }
  level.singlesDiffer |= size == 1 && !found->empty();
  return ChangeSet();
}

Expected<ChangeSet> ReduceSearch::minimize(Level &level) {
  for (unsigned size : {1u, 2u}) {
    Expected<ChangeSet> found = findFewProved(level, size);
    if (!found || !found->empty())
      return found;
  }
  return minimizeAll(level);
}

static StringRef occasionText(Occasion occasion) { return occasion == Occasion::First ? "first" : "last"; }

/// Replaces a single operation with regions by the operations in them that still differ.
Expected<bool> ReduceSearch::descend(Level &level, ChangeSet &units) {
  if (units.size() != 1 || reduction.ended)
    return false;
  Operation *op = level.units[units.front()];
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Occasion occasion : {Occasion::First, Occasion::Last}) {
        Expected<Level> inner = record(&block, occasion);
        if (!inner)
          return inner.takeError();
        Expected<ChangeSet> found = minimize(*inner);
        if (!found)
          return found.takeError();
        if (found->empty())
          continue;
        reduction.inside.push_back(op->getName().getStringRef().str() + " at " + locationText(op->getLoc()) +
                                   ", with the values of the " + occasionText(occasion).str() + " execution");
        level = std::move(*inner);
        units = std::move(*found);
        return true;
      }
  return false;
}

Error ReduceSearch::compareWhole(ReduceHints &hints) {
  if (hints.differences) {
    reduction.differences = std::move(*hints.differences);
    return Error::success();
  }
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  return compare(*folder, options.inputs[0], options.program, &reduction.relBlind)
      .moveInto(reduction.differences);
}

Expected<Reduction> ReduceSearch::find(StringRef output, ReduceHints hints) {
  if (Error error = compareWhole(hints))
    return std::move(error);
  if (reduction.differences.empty())
    return std::move(reduction);
  if (Error error = load())
    return std::move(error);
  Expected<bool> planFault = hints.plans ? findPlanFault() : Expected<bool>(false);
  if (!planFault)
    return planFault.takeError();
  if (hints.plans && (!*planFault || output.empty()))
    return std::move(reduction);
  Expected<Level> level = record(&entry.front(), Occasion::Last);
  if (!level)
    return level.takeError();
  reduction.units = level->units.size();
  if (hints.brief) {
    if (Error error = findBriefly(*level, hints))
      return std::move(error);
    return std::move(reduction);
  }
  Expected<ChangeSet> units = search(*level, hints, output);
  if (!units)
    return units.takeError();
  if (!units->empty())
    if (Error error = report(*level, std::move(*units), output))
      return std::move(error);
  return std::move(reduction);
}

// If the differentiated program gives equal results, only derivatives of its operations are left, unless the
// reason is known.
Expected<ChangeSet> ReduceSearch::search(Level &level, const ReduceHints &hints, StringRef output) {
  Expected<ChangeSet> few = findFewProved(level, 1);
  Expected<bool> whole = few && few->empty() ? differs(level, level.all()) : Expected<bool>(true);
  if (!whole)
    return whole.takeError();
  bool bisects = hints.beforeLongSearch != nullptr;
  if (!*whole && reduction.kind == ReductionKind::WrongPlan)
    return ChangeSet();
  if (!*whole) {
    if (Error error = findDerivative(output))
      return std::move(error);
  } else if (few && few->empty()) {
    Expected<bool> planFault = bisects ? findPlanFault() : Expected<bool>(false);
    if (!planFault)
      return planFault.takeError();
    // Without an output, no smaller program is needed.
    if (*planFault && output.empty())
      return ChangeSet();
    few = findFewProved(level, 2);
  }
  reduction.isShort = few && !few->empty();
  if (!few || reduction.isShort || reduction.kind == ReductionKind::Derivative)
    return few;
  Expected<bool> explained = bisects ? explain(hints, *whole, output) : false;
  if (!explained)
    return explained.takeError();
  return *explained || !*whole ? ChangeSet() : minimizeAll(level);
}

Expected<bool> ReduceSearch::explain(const ReduceHints &hints, bool wholeDiffers, StringRef output) {
  if (reduction.kind == ReductionKind::WrongPlan)
    return false;
  Expected<bool> found = hints.beforeLongSearch();
  return !found || *found || !wholeDiffers || !output.empty() ? std::move(found) : findFirstValue();
}

Error ReduceSearch::report(Level &level, ChangeSet units, StringRef output) {
  if (reduction.kind != ReductionKind::WrongPlan)
    reduction.kind = ReductionKind::Found;
  for (bool deeper = true; deeper;)
    if (Error error = descend(level, units).moveInto(deeper))
      return error;
  reduction.reduced = level.known[units];
  for (Operation *op : level.select(units))
    reduction.operations.push_back(describeOperation(op));
  return finish(makeSlice(entry, level.select(units), *level.values), output);
}
