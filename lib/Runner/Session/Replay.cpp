// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads run.json of a trace, and compares results with recorded ones. The file is untrusted: it names files
// of its folder alone.
#include "Replay.h"
#include "adjoint/Diff/Record.h"
#include "adjoint/Numerics/BuiltinPolicies.h"
#include "adjoint/Runner/IO/Source.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FolderFile.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using mlir::ad::fileInFolder;

namespace {

/// A value of the trace: its name and its file.
struct RecordedValue {
  std::string name, file, source;
};

bool fromJSON(const llvm::json::Value &value, RecordedValue &recorded, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("name", recorded.name) && map.map("file", recorded.file) &&
         map.mapOptional("source", recorded.source);
}

struct RecordedOptions {
  std::string entry, target, numerics, precision, fuse, tiles, tile, cpu, chip, schedule, kernels,
      missingKernels, rewritesOnly, rewritesExcept;
  bool optimize = true, replay = true;
  unsigned threads = 0, smCount = 0;
  uint64_t seed = 0;
};

bool fromJSON(const llvm::json::Value &value, RecordedOptions &options, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("entry", options.entry) && map.map("target", options.target) &&
         map.map("numerics", options.numerics) && map.map("precision", options.precision) &&
         map.map("kernels", options.kernels) && map.map("missing_kernels", options.missingKernels) &&
         map.map("optimize", options.optimize) && map.map("fuse", options.fuse) &&
         map.map("tiles", options.tiles) && map.map("tile", options.tile) && map.map("cpu", options.cpu) &&
         map.map("chip", options.chip) && map.map("threads", options.threads) &&
         map.map("schedule", options.schedule) && map.map("seed", options.seed) &&
         map.map("sm_count", options.smCount) && map.map("replay", options.replay) &&
         map.mapOptional("rewrites_only", options.rewritesOnly) &&
         map.mapOptional("rewrites_except", options.rewritesExcept);
}

struct RecordedRun {
  std::string program, status;
  RecordedOptions options;
  std::vector<RecordedValue> inputs, feeds, outputs;
};

bool fromJSON(const llvm::json::Value &value, RecordedRun &run, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("program", run.program) && map.mapOptional("status", run.status) &&
         map.map("options", run.options) && map.map("inputs", run.inputs) && map.map("feeds", run.feeds) &&
         map.map("outputs", run.outputs);
}

Expected<RecordedRun> readRun(StringRef folder) {
  Expected<std::string> path = fileInFolder(folder, "run.json");
  if (!path)
    return path.takeError();
  auto text = llvm::MemoryBuffer::getFile(*path);
  if (!text)
    return usageError("cannot read '" + *path + "': " + text.getError().message() +
                      "; --replay needs a folder that --trace has written");
  auto about = [&](Error error) {
    return usageError("'" + *path + "' is not of a trace: " + llvm::toString(std::move(error)));
  };
  Expected<llvm::json::Value> value = mlir::ad::parseJSON((*text)->getBuffer());
  if (!value)
    return about(value.takeError());
  RecordedRun run;
  llvm::json::Path::Root root("run");
  if (!fromJSON(*value, run, root))
    return about(root.getError());
  return run;
}

/// A feed that was read has its values in a file; one that was not needs none.
Expected<Assignment> feedSource(StringRef folder, const RecordedValue &feed) {
  // The source of one that was not read is generated, since no file outside of the folder is opened.
  if (feed.file.empty())
    return Assignment{feed.name, isGeneratedSource(feed.source) ? feed.source : "zeros"};
  Expected<std::string> path = fileInFolder(folder, feed.file);
  if (!path)
    return path.takeError();
  if (!llvm::sys::fs::exists(*path))
    return usageError("the trace lacks '" + feed.file + "', the values of feed '" + feed.name + "'");
  return Assignment{feed.name, *path, /*isFile=*/true};
}

/// The ranges and forms of the command line.
Error checkValues(const RecordedOptions &recorded) {
  static const llvm::Regex word("^[A-Za-z0-9_.-]*$");
  auto refuse = [](const llvm::Twine &name) {
    return usageError("the recorded option " + name + " is none of this version's");
  };
  if (recorded.smCount < 1 || recorded.smCount > kMaxSMCount)
    return refuse("sm_count");
  if (recorded.threads > kMaxThreads)
    return refuse("threads");
  if (!recorded.tile.empty() && !isTile(recorded.tile))
    return refuse("tile");
  for (auto [name, text] : {std::pair("chip", &recorded.chip),
                            {"cpu", &recorded.cpu},
                            {"fuse", &recorded.fuse},
                            {"tiles", &recorded.tiles}})
    if (!word.match(*text))
      return refuse(name);
  return Error::success();
}

/// The names of files become paths.
Error applyOptionFiles(const RecordedOptions &recorded, Options &options) {
  options.precision = recorded.precision;
  options.rewritesOnly = recorded.rewritesOnly;
  options.rewritesExcept = recorded.rewritesExcept;
  bool isNamed = recorded.precision.empty() || recorded.precision == "none" ||
                 llvm::is_contained(mlir::ad::numerics::builtinPolicyNames(), recorded.precision);
  if (!isNamed && !StringRef(recorded.precision).ends_with(".yaml"))
    return usageError("the recorded option precision names no policy and no file that ends with .yaml");
  for (std::string *file : {&options.precision, &options.rewritesOnly, &options.rewritesExcept}) {
    bool isName = file != &options.precision || StringRef(*file).ends_with(".yaml");
    if (file->empty() || !isName)
      continue;
    if (Error error = fileInFolder(options.replayFolder, *file).moveInto(*file))
      return error;
  }
  return Error::success();
}

Error applyOptions(const RecordedOptions &recorded, Options &options) {
  const auto *schedule = llvm::find(adsim::kScheduleNames, recorded.schedule);
  if (schedule == std::end(adsim::kScheduleNames))
    return usageError("unknown schedule '" + recorded.schedule + "' in the trace");
  if (Error error = checkValues(recorded))
    return error;
  Expected<Target> target = parseTarget(recorded.target);
  if (!target)
    return target.takeError();
  if (!options.targetGiven)
    options.target = *target;
  if (!recorded.numerics.empty())
    if (Error error = parseNumerics(recorded.numerics, options))
      return error;
  options.entry = recorded.entry;
  options.kernels = recorded.kernels;
  options.missingKernels = recorded.missingKernels;
  options.optimize = recorded.optimize;
  options.fuse = recorded.fuse;
  options.tiles = recorded.tiles;
  options.tile = recorded.tile;
  options.cpu = recorded.cpu;
  options.chip = recorded.chip;
  options.replay = recorded.replay;
  options.emulation.schedule = static_cast<adsim::Schedule>(schedule - adsim::kScheduleNames);
  options.emulation.seed = recorded.seed;
  options.emulation.smCount = recorded.smCount;
  return applyOptionFiles(recorded, options);
}

} // namespace

std::string mlir::ad::runner::moveRewrites(StringRef rewrites, StringRef from, StringRef to) {
  std::string before = ("\t" + from + ":").str(), after = ("\t" + to + ":").str(), moved;
  while (!rewrites.empty()) {
    auto [line, rest] = rewrites.split('\n');
    size_t at = line.rfind(before);
    moved += at == StringRef::npos ? line.str()
                                   : (line.take_front(at) + after + line.substr(at + before.size())).str();
    moved += '\n';
    rewrites = rest;
  }
  return moved;
}

Error mlir::ad::runner::readReplay(Options &options) {
  Expected<RecordedRun> run = readRun(options.replayFolder);
  if (!run)
    return run.takeError();
  if (Error error = applyOptions(run->options, options))
    return error;
  if (Error error = fileInFolder(options.replayFolder, run->program).moveInto(options.input))
    return error;
  for (const RecordedValue &input : run->inputs) {
    Expected<std::string> file = fileInFolder(options.replayFolder, input.file);
    if (!file)
      return file.takeError();
    options.arguments.push_back({input.name, std::move(*file), /*isFile=*/true});
  }
  for (const RecordedValue &feed : run->feeds) {
    Expected<Assignment> source = feedSource(options.replayFolder, feed);
    if (!source)
      return source.takeError();
    options.feeds.push_back(std::move(*source));
  }
  return Error::success();
}

Expected<std::vector<std::string>>
mlir::ad::runner::findReplayDifferences(const Options &options, const Signature &signature,
                                        llvm::ArrayRef<adrt_tensor> results) {
  Expected<RecordedRun> run = readRun(options.replayFolder);
  if (!run)
    return run.takeError();
  if (run->status == "failed")
    return usageError("the recorded run failed, so that '" + options.replayFolder +
                      "' has no results to compare with");
  std::vector<std::string> different;
  for (auto [spec, result] : llvm::zip(signature.results, results)) {
    StringRef name = spec.name;
    auto recorded = llvm::find_if(run->outputs, [=](const RecordedValue &v) { return v.name == name; });
    if (recorded == run->outputs.end())
      return usageError("the trace has no output '" + spec.name + "'");
    Expected<std::string> path = fileInFolder(options.replayFolder, recorded->file);
    if (!path)
      return path.takeError();
    Expected<NpyFile> file = NpyFile::open(*path);
    if (!file)
      return file.takeError();
    Expected<Tensor> value = file->load(spec.type);
    if (!value)
      return value.takeError();
    if (diff::contentHash(value->view()) != diff::contentHash(result))
      different.push_back(spec.name);
  }
  return std::move(different);
}

Error mlir::ad::runner::checkReplay(const Options &options, const Signature &signature,
                                    llvm::ArrayRef<adrt_tensor> results) {
  Expected<std::vector<std::string>> different = findReplayDifferences(options, signature, results);
  if (!different)
    return different.takeError();
  if (different->empty())
    return Error::success();
  return exitError(ExitCheckFailed, "results with other bits than in the trace: '" +
                                        llvm::join(*different, "', '") +
                                        "'; `ad-diff runs` compares two traces");
}
