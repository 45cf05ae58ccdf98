// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "RunnerProcess.h"
#include "../Commands.h"
#include "adjoint/Diff/Record.h"
#include "adjoint/Diff/TensorFile.h"
#include "adjoint/Diff/TensorFolder.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"

#include <algorithm>
#include <climits>
#include <unistd.h>

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===- Sides ----------------------------------------------------------------===//

static bool isAssignment(StringRef word) {
  size_t end = word.find('=');
  return end != StringRef::npos && end > 0 && !word.starts_with("-") && !llvm::isDigit(word.front()) &&
         llvm::all_of(word.take_front(end), [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static std::string runnerBeside() {
  static int anchor;
  llvm::SmallString<128> path(
      llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(nullptr, &anchor)));
  llvm::sys::path::append(path, "ad-runner");
  return path.str().str();
}

// Whether each quote of a command line has its end. A backslash takes its meaning from the next character,
// except between single quotes.
static bool quotesEnd(StringRef text) {
  char open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && open != '\'')
      ++i;
    else if (open ? text[i] == open : text[i] == '\'' || text[i] == '"')
      open = open ? 0 : text[i];
  }
  return open == 0;
}

Expected<Side> mlir::ad::diff::parseSide(StringRef name, StringRef text, StringRef runner) {
  static constexpr StringRef ours[] = {"--out-dir",         "--list-rewrites", "--rewrites-only",
                                       "--rewrites-except", "--emit",          "--check-gradients",
                                       "--bench",           "--replay",        "--help",
                                       "--trace",           "--trace-tensors", "--dump-plan"};
  if (!quotesEnd(text))
    return usageError("--" + name.lower() + " has a quote without an end: " + text);
  Side side{name.str(), text.str(), runner.empty() ? runnerBeside() : runner.str(), {}, {}};
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(text, saver, words);
  for (StringRef word : words) {
    if (llvm::is_contained(ours, word.split('=').first))
      return usageError("--" + name.lower() + " has '" + word.split('=').first +
                        "', which the search needs itself; leave it out");
    if (side.options.empty() && isAssignment(word))
      side.environment.push_back(word.str());
    else
      side.options.push_back(word.str());
  }
  if (!llvm::sys::fs::can_execute(side.runner))
    return usageError("'" + side.runner + "' is no program that can be executed");
  return side;
}

std::string mlir::ad::diff::textOf(const Side &side) {
  return side.text.empty() ? "the default options" : side.text;
}

bool mlir::ad::diff::isInputOption(StringRef option) {
  StringRef name = option.split('=').first;
  return name == "--arg" || name == "--feed" || name == "--dim" || name == "--entry";
}

Error mlir::ad::diff::checkSharedInputs(const Side &a, const Side &b) {
  for (const Side *side : {&a, &b})
    for (StringRef option : side->options)
      if (isInputOption(option))
        return usageError(
            "--" + StringRef(side->name).lower() + " has '" + option.split('=').first +
            "', but a reduced program has the same inputs for both; write it before --a and --b");
  return Error::success();
}

std::vector<std::string> mlir::ad::diff::environmentWith(llvm::ArrayRef<std::string> assignments) {
  std::vector<std::string> all;
  for (char **entry = environ; *entry; ++entry) {
    StringRef name = StringRef(*entry).split('=').first;
    if (llvm::none_of(assignments, [&](StringRef given) { return given.split('=').first == name; }))
      all.push_back(*entry);
  }
  all.insert(all.end(), assignments.begin(), assignments.end());
  return all;
}

//===- Runs -----------------------------------------------------------------===//

static std::string contentOf(StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  return text ? (*text)->getBuffer().trim().str() : "";
}

static Expected<std::set<mlir::ad::Rewrite>> readRewrites(StringRef path) {
  std::string error;
  mlir::FailureOr<std::set<mlir::ad::Rewrite>> rewrites = mlir::ad::parseRewrites(contentOf(path), error);
  if (failed(rewrites))
    return exitError(ExitProgramError, "internal error: '" + path + "': " + error);
  return std::move(*rewrites);
}

constexpr int kNotStarted = INT_MIN;

static std::string failureText(const Side &side, bool leavesOut, int code, const std::string &messages) {
  std::string how = code == kNotStarted ? "could not be started"
                    : code < 0          ? "ended by a signal"
                                        : "ended with exit code " + std::to_string(code);
  return "the run of " + side.name + (side.text.empty() ? "" : " (" + side.text + ")") +
         (leavesOut ? " without some of its rewrites " : " ") + how + ":\n" + messages;
}

// A process that is still running would keep the temporary folder from being removed.
static int execute(StringRef runner, llvm::ArrayRef<StringRef> arguments, llvm::ArrayRef<StringRef> variables,
                   llvm::ArrayRef<std::optional<StringRef>> redirects, std::string &failure) {
  bool failed = false;
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(runner, arguments, variables, redirects,
                                                            /*MemoryLimit=*/0, &failure, &failed);
  if (failed)
    return kNotStarted;
  mlir::ad::runner::KilledWithTool killed(process.Pid);
  return llvm::sys::Wait(process, /*SecondsToWait=*/std::nullopt, &failure).ReturnCode;
}

// The manifest is there from the start of the run on, and says nothing.
static bool hasTensors(const std::string &path) {
  std::error_code error;
  llvm::sys::fs::directory_iterator file(path, error), end;
  for (; !error && file != end; file.increment(error))
    if (StringRef(file->path()).ends_with(".npy"))
      return true;
  return false;
}

Expected<RunnerProcess::Run> RunnerProcess::run(const Side &side, const std::set<Rewrite> *only) {
  return run(side, only, Kind::Plain);
}

Expected<RunnerProcess::Run> RunnerProcess::runExcept(const Side &side, const std::set<Rewrite> &leftOut) {
  return run(side, &leftOut, Kind::Except);
}

Expected<RunnerProcess::Run> RunnerProcess::runTraced(const Side &side, const std::set<Rewrite> *only) {
  return run(side, only, Kind::Traced);
}

Expected<RunnerProcess::Run> RunnerProcess::runPlanned(const Side &side, const std::set<Rewrite> *only) {
  Expected<Run> result = run(side, only, Kind::Planned);
  if (result && result->failure.empty())
    result->plan = contentOf(result->plan);
  return result;
}

Expected<RunnerProcess::Run> RunnerProcess::run(const Side &side, const std::set<Rewrite> *listed,
                                                Kind kind) {
  std::string number = std::to_string(count);
  Run result;
  result.results = folder.file("results" + number);
  std::vector<std::string> words = {side.runner, program};
  words.insert(words.end(), inputs.begin(), inputs.end());
  words.insert(words.end(), side.options.begin(), side.options.end());
  words.insert(words.end(), {"--out-dir", result.results});
  if (listed) {
    std::string list = folder.file("listed" + number);
    if (Error error = writeFile(list, {StringRef(formatRewrites(*listed))}))
      return std::move(error);
    words.insert(words.end(), {kind == Kind::Except ? "--rewrites-except" : "--rewrites-only", list});
  }
  if (kind == Kind::Traced) {
    result.trace = folder.file("trace" + number);
    words.insert(words.end(), {"--trace", result.trace});
  } else if (kind == Kind::Planned) {
    result.plan = folder.file("plan" + number);
    words.insert(words.end(), {"--dump-plan", result.plan});
  }
  if (Error error = finish(side, listed || kind == Kind::Planned, words, result))
    return std::move(error);
  return std::move(result);
}

Error RunnerProcess::finish(const Side &side, bool mayFail, const std::vector<std::string> &words,
                            Run &result) {
  std::string number = std::to_string(count++), messages = folder.file("messages" + number),
              list = folder.file("rewrites" + number);
  std::vector<std::string> environment = environmentWith(side.environment);
  std::vector<StringRef> arguments(words.begin(), words.end()),
      variables(environment.begin(), environment.end());
  arguments.insert(arguments.end(), {"--list-rewrites", list});
  std::optional<StringRef> redirects[] = {StringRef("/dev/null"), StringRef("/dev/null"),
                                          StringRef(messages)};
  std::string failure;
  int code = execute(side.runner, arguments, variables, redirects, failure);
  // A failed check ends the program; what it sent before can be compared.
  bool hasValues = code == ExitDone || (code == ExitCheckFailed && hasTensors(result.results));
  if (!hasValues) {
    bool leavesOut =
        llvm::is_contained(words, "--rewrites-only") || llvm::is_contained(words, "--rewrites-except");
    result.failure = failureText(side, leavesOut, code, failure.empty() ? contentOf(messages) : failure);
    return mayFail ? Error::success() : usageError(result.failure);
  }
  if (!llvm::sys::fs::exists(list) || !llvm::sys::fs::exists(result.results))
    return usageError("'" + side.runner + "' of " + side.name +
                      " ran without an error, but wrote no results and no list of rewrites; expected a "
                      "build of ad-runner");
  return readRewrites(list).moveInto(result.rewrites);
}

// All NaNs are one in the hash.
static std::string hashPart(adrt_type type, std::vector<char> &elements, int64_t count) {
  adrt_tensor part = {};
  part.data = elements.data();
  part.type = type;
  part.rank = 1;
  part.shape = &count;
  return contentHash(part);
}

// Unlike MaxDiff, for which the two zeros are one value.
static Expected<bool> haveSameBits(TensorFile &expected, TensorFile &got) {
  constexpr int64_t partElements = int64_t(1) << 16;
  int64_t total = expected.getElementCount(), width = adrt::elementSize(expected.getType());
  std::vector<char> left(static_cast<size_t>(partElements * width)), right(left.size());
  for (int64_t first = 0; first < total; first += partElements) {
    int64_t count = std::min(partElements, total - first);
    if (Error error = expected.read(first, count, left.data()))
      return std::move(error);
    if (Error error = got.read(first, count, right.data()))
      return std::move(error);
    if (hashPart(expected.getType(), left, count) != hashPart(expected.getType(), right, count))
      return false;
  }
  return true;
}

static Expected<ResultDiff> compareFilePair(const FilePair &pair) {
  if (pair.expected.empty() || pair.got.empty())
    return ResultDiff{pair.name, makeIncomparable()};
  Expected<TensorFile> expected = TensorFile::open(pair.expected);
  if (!expected)
    return expected.takeError();
  Expected<TensorFile> got = TensorFile::open(pair.got);
  if (!got)
    return got.takeError();
  if (expected->getType() != got->getType() || expected->getShape() != got->getShape())
    return ResultDiff{pair.name, makeIncomparable()};
  ResultDiff result{pair.name, {}};
  if (Error error = compareFiles(*expected, *got, {}).moveInto(result.diff))
    return std::move(error);
  if (result.diff.isZero()) {
    Expected<bool> same = haveSameBits(*expected, *got);
    if (!same)
      return same.takeError();
    result.onlyZeroSigns = !*same;
  }
  return std::move(result);
}

Expected<std::vector<ResultDiff>> mlir::ad::diff::compareRuns(StringRef expected, StringRef got,
                                                              const std::optional<Bound> &bound,
                                                              std::vector<std::string> *relBlind) {
  Expected<std::vector<FilePair>> pairs = pairFolders(expected, got);
  if (!pairs)
    return pairs.takeError();
  std::vector<ResultDiff> different;
  for (const FilePair &pair : *pairs) {
    Expected<ResultDiff> result = compareFilePair(pair);
    if (!result)
      return result.takeError();
    if (relBlind && result->diff.isRelBlind())
      relBlind->push_back(result->name);
    if (bound ? !isWithin(result->diff, *bound) : result->onlyZeroSigns || !result->diff.isZero())
      different.push_back(std::move(*result));
  }
  return different;
}
