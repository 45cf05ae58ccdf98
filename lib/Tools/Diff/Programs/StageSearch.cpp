// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "StageSearch.h"
#include "ProgramOptions.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

struct PassStage {
  StringRef pass, stage;
};

} // namespace

// The passes in their order, with the stages of docs/architecture.md. Later passes generate code.
static constexpr PassStage passStages[] = {{"parse", "parsing"},
                                           {"ad-keep-fuse-groups", "numerics"},
                                           {"ad-import-linalg", "numerics"},
                                           {"ad-verify-program", "numerics"},
                                           {"ad-set-numerics", "numerics"},
                                           {"ad-autocast", "mixed precision"},
                                           {"ad-differentiate", "differentiation"},
                                           {"inline", "differentiation"},
                                           {"symbol-dce", "differentiation"},
                                           {"ad-exchange-kernels", "implementations"},
                                           {"ad-insert-precision-free-casts", "implementations"},
                                           {"ad-specialize-sizes", "simplification"},
                                           {"ad-simplify", "simplification"},
                                           {"ad-decompose", "simplification"},
                                           {"ad-write-broadcasts", "simplification"},
                                           {"ad-place-casts", "simplification"},
                                           {"ad-widen-operands", "fusion"},
                                           {"ad-split-k", "fusion"},
                                           {"ad-choose-instructions", "fusion"},
                                           {"ad-insert-shape-checks", "fusion"},
                                           {"ad-sort-scatters", "fusion"},
                                           {"ad-fuse", "fusion"},
                                           {"ad-select-kernels", "fusion"},
                                           {"convert-ad-to-linalg", "kernels"},
                                           {"ad-prepack-operands", "kernels"},
                                           {"ad-outline-kernels", "kernels"},
                                           {"ad-plan-memory", "kernels"}};

static const PassStage *findPass(StringRef pass) {
  return llvm::find_if(passStages, [&](const PassStage &entry) { return entry.pass == pass; });
}

std::string mlir::ad::diff::stageOf(StringRef pass) {
  const PassStage *found = findPass(pass);
  if (pass.empty())
    return "";
  return found == std::end(passStages) ? "code" : found->stage.str();
}

StageSearch::StageSearch(const DiffOptions &options, const TemporaryFolder &folder, std::string programFile,
                         std::vector<std::string> inputs)
    : options(options), folder(folder), programFile(std::move(programFile)), inputs(std::move(inputs)) {}

//===- Programs of a trace --------------------------------------------------===//

static Expected<std::string> readText(StringRef folder, StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return usageError("cannot read '" + path.str() + "': " + text.getError().message());
  return (*text)->getBuffer().str();
}

// Passes that only a trace has change no value.
Expected<std::vector<TracedStage>> mlir::ad::diff::readStages(const std::string &trace) {
  Expected<std::string> run = readText(trace, "run.json");
  if (!run)
    return run.takeError();
  Expected<llvm::json::Value> json = mlir::ad::parseJSON(*run);
  if (!json)
    return json.takeError();
  std::vector<TracedStage> stages;
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Array *entries = object ? object->getArray("stages") : nullptr;
  for (const llvm::json::Value &entry : entries ? *entries : llvm::json::Array()) {
    const llvm::json::Object *stage = entry.getAsObject();
    std::optional<StringRef> pass = stage ? stage->getString("after") : std::nullopt;
    std::optional<StringRef> file = stage ? stage->getString("file") : std::nullopt;
    if (!pass || !file || *pass == "ad-insert-trace")
      continue;
    Expected<std::string> text = readText(trace, *file);
    if (!text)
      return text.takeError();
    llvm::SmallString<32> listFile(*file);
    llvm::sys::path::replace_extension(listFile, "txt");
    Expected<std::string> list = readText(trace, listFile);
    if (!list)
      return list.takeError();
    if (!stages.empty() && stages.back().pass == *pass)
      stages.pop_back();
    stages.push_back({pass->str(), std::move(*text), std::move(*list)});
  }
  if (stages.empty())
    return exitError(ExitProgramError, "internal error: '" + trace + "' has no stages");
  return stages;
}

Expected<std::optional<TracedRuns>> mlir::ad::diff::traceRuns(RunnerProcess &process, const Configuration &a,
                                                              const Configuration &b, std::string &failure) {
  TracedRuns runs;
  for (auto [configuration, run] : {std::pair(&a, &runs.a), std::pair(&b, &runs.b)}) {
    if (Error error =
            process.runTraced(configuration->side, configuration->only ? &*configuration->only : nullptr)
                .moveInto(*run))
      return std::move(error);
    if (!run->failure.empty()) {
      failure = run->failure;
      return std::nullopt;
    }
  }
  return std::move(runs);
}

// A pass that changed nothing has no stage. The longest common subsequence of the names puts both lists side
// by side; between its passes, the order is that of the pipelines.
std::vector<StageSearch::Step> StageSearch::align(const std::vector<Stage> &a, const std::vector<Stage> &b) {
  std::vector<std::vector<size_t>> length(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      length[i][j] =
          a[i].pass == b[j].pass ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
  std::vector<Step> steps;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    bool both = i < a.size() && j < b.size() && a[i].pass == b[j].pass;
    bool onlyA = !both && i < a.size() &&
                 (j == b.size() || length[i + 1][j] > length[i][j + 1] ||
                  (length[i + 1][j] == length[i][j + 1] && findPass(a[i].pass) <= findPass(b[j].pass)));
    std::string pass = onlyA || both ? a[i].pass : b[j].pass;
    i += both || onlyA;
    j += both || !onlyA;
    steps.push_back({std::move(pass), i ? i - 1 : 0, j ? j - 1 : 0});
  }
  return steps;
}

//===- Values ---------------------------------------------------------------===//

// A stage between passes may lack what the interpreter needs; it then has no values.
Expected<std::string> StageSearch::interpret(const std::string &text) {
  auto [entry, added] = interpreted.try_emplace(text);
  if (!added)
    return entry->second;
  DiffOptions ours;
  ours.program = inputs;
  Expected<Options> parsed = makeRunnerOptions(ours, programFile, Target::Reference);
  if (!parsed)
    return parsed.takeError();
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, "stage");
  Expected<std::unique_ptr<ProgramRun>> program =
      ProgramRun::load(*buffer, *parsed, standardHooks(), "ad-diff", Messages::Collect);
  Error failure = program ? (*program)->bind() : program.takeError();
  Expected<RunValues> values = failure ? Expected<RunValues>(std::move(failure)) : (*program)->run();
  if (!values) {
    llvm::consumeError(values.takeError());
    return std::string();
  }
  std::string path = folder.file("values" + std::to_string(interpreted.size()));
  if (std::error_code error = llvm::sys::fs::create_directory(path))
    return usageError("cannot create the folder '" + path + "': " + error.message());
  for (const NamedTensor &result : values->results)
    if (Error error = writeNpy(path + "/" + result.name + ".npy", result.value.view()))
      return std::move(error);
  return entry->second = path;
}

Expected<bool> StageSearch::differ(const std::string &left, const std::string &right) const {
  Expected<std::vector<ResultDiff>> differences = compareRuns(left, right, options.bound);
  if (!differences)
    return differences.takeError();
  return !differences->empty();
}

Expected<std::string> StageSearch::changedSide(const std::string &beforeA, const std::string &a,
                                               const std::string &beforeB, const std::string &b) const {
  if (beforeA.empty() || beforeB.empty())
    return std::string();
  Expected<bool> changedA = differ(beforeA, a);
  if (!changedA)
    return changedA.takeError();
  Expected<bool> changedB = differ(beforeB, b);
  if (!changedB)
    return changedB.takeError();
  if (*changedA && *changedB)
    return std::string("A and B");
  return std::string(*changedA ? "A" : *changedB ? "B" : "");
}

//===- Search ---------------------------------------------------------------===//

Expected<std::optional<StageFinding>> StageSearch::findChangedValues() {
  std::string beforeA, beforeB;
  for (const Step &step : steps) {
    const std::string &textA = stagesA[step.a].text, &textB = stagesB[step.b].text;
    Expected<std::string> valuesA = interpret(textA);
    if (!valuesA)
      return valuesA.takeError();
    Expected<std::string> valuesB = interpret(textB);
    if (!valuesB)
      return valuesB.takeError();
    if (valuesA->empty() || valuesB->empty())
      continue;
    Expected<bool> changed = textA == textB ? Expected<bool>(false) : differ(*valuesA, *valuesB);
    if (!changed)
      return changed.takeError();
    if (*changed) {
      StageFinding finding{stageOf(step.pass), step.pass, {}, ""};
      if (Error error = changedSide(beforeA, *valuesA, beforeB, *valuesB).moveInto(finding.side))
        return std::move(error);
      return std::optional(std::move(finding));
    }
    beforeA = *valuesA;
    beforeB = *valuesB;
  }
  return std::optional<StageFinding>();
}

static void addKernels(StringRef text, std::vector<std::string> &names) {
  constexpr StringRef start = "ad.kernel private @";
  for (size_t at = text.find(start); at != StringRef::npos; at = text.find(start, at + 1)) {
    std::string name = text.substr(at + start.size()).take_until([](char c) { return c == '('; }).str();
    if (!llvm::is_contained(names, name))
      names.push_back(std::move(name));
  }
}

bool StageSearch::hasPass(const std::vector<Stage> &stages, StringRef pass) {
  return llvm::any_of(stages, [&](const Stage &stage) { return stage.pass == pass; });
}

Expected<StageFinding> StageSearch::findChangedCode(const std::string &resultsA,
                                                    const std::string &resultsB) {
  StageFinding finding{"code", "", {}, ""};
  for (const std::vector<Stage> *stages : {&stagesA, &stagesB})
    for (const Stage &stage : *stages)
      addKernels(stage.text, finding.kernels);
  std::string lastA, lastB;
  bool sameText = true;
  for (const Step &step : steps) {
    const std::string &textA = stagesA[step.a].text, &textB = stagesB[step.b].text;
    if (sameText && textA != textB) {
      finding.pass = step.pass;
      finding.stage = stageOf(step.pass);
    }
    sameText &= textA == textB;
    if (StringRef values = interpreted[textA]; !values.empty())
      lastA = values.str();
    if (StringRef values = interpreted[textB]; !values.empty())
      lastB = values.str();
  }
  // Texts that are different in the `ad` dialect compute the same there: the difference is after them. Code
  // for different targets is always different.
  bool sameTarget = hasPass(stagesA, "ad-emit-cpu") == hasPass(stagesB, "ad-emit-cpu");
  if (!finding.pass.empty() && (!sameTarget || (finding.stage != "kernels" && finding.stage != "code"))) {
    finding.pass.clear();
    finding.stage = "code";
  }
  if (Error error = changedSide(lastA, resultsA, lastB, resultsB).moveInto(finding.side))
    return std::move(error);
  return finding;
}

Expected<StageFinding> StageSearch::find(const TracedRuns &runs) {
  if (Error error = readStages(runs.a.trace).moveInto(stagesA))
    return std::move(error);
  if (Error error = readStages(runs.b.trace).moveInto(stagesB))
    return std::move(error);
  steps = align(stagesA, stagesB);
  Expected<std::optional<StageFinding>> values = findChangedValues();
  if (!values)
    return values.takeError();
  if (*values)
    return std::move(**values);
  return findChangedCode(runs.a.results, runs.b.results);
}

std::string mlir::ad::diff::stageText(StringRef stage, StringRef pass) {
  return ("stage: " + stage + (pass.empty() ? "" : ", pass ") + pass).str();
}

std::string mlir::ad::diff::describe(const StageFinding &finding) {
  std::string text = stageText(finding.stage, finding.pass);
  if (!finding.kernels.empty())
    text += ", kernel " + llvm::join(finding.kernels, ", ");
  if (!finding.side.empty())
    text += "; the values of " + finding.side + " change there";
  return text + "\n";
}
