// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The command line. OptTable and not cl::opt: the shared LLVM library brings hundreds of global cl::opt of
// its own, whose names collide with ours, and unknown options must exit with 2.
#include "adjoint/Runner/Options.h"
#include "adjoint/Runner/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/FileSystem.h"

#include <thread>

using namespace llvm;
using namespace llvm::opt;
using namespace mlir::ad::runner;

namespace {

enum : unsigned { RunVis = 1 << 1 }; // beside DefaultVis; named in Options.td

Visibility visibilityOf(OptionSet set) {
  return Visibility(set == OptionSet::Run ? static_cast<unsigned>(RunVis) : DefaultVis);
}

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

class RunnerOptTable : public GenericOptTable {
public:
  RunnerOptTable() : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {}
};

StringRef programFile(OptionSet set) { return set == OptionSet::Run ? "FILE.adx" : "FILE.mlir"; }

/// Fills an Options from parsed arguments; each function handles one kind of value.
class OptionsReader {
public:
  OptionsReader(const RunnerOptTable &table, const InputArgList &list, OptionSet set)
      : table(table), list(list), set(set) {}
  Expected<Options> read();

private:
  Error checkUnknown() const;
  Error checkValues() const;
  Error checkEmit(const Options &options) const;
  Error checkOutputs(const Options &options) const;
  Error checkCompiled(const Options &options) const;
  Error readInput(Options &options) const;
  Error readAssignments(OptionId id, std::vector<Assignment> &assignments) const;
  Error readDims(Options &options) const;
  Error readName(OptionId id, StringRef what, ArrayRef<StringRef> names, std::string &value) const;
  Error readCount(OptionId id, unsigned minimum, unsigned &value) const;
  Error readSeconds(OptionId id, double &value) const;
  std::string text(OptionId id, StringRef fallback = "") const {
    return list.getLastArgValue(id, fallback).str();
  }

  const RunnerOptTable &table;
  const InputArgList &list;
  OptionSet set;
};

/// `, did you mean 'x'?` for the value nearest to `given`, if any is near.
std::string suggestValue(StringRef given, ArrayRef<StringRef> known) {
  StringRef best;
  unsigned distance = given.size() / 2 + 1;
  for (StringRef candidate : known) {
    unsigned current = given.edit_distance(candidate, /*AllowReplacements=*/true, distance);
    if (current < distance) {
      distance = current;
      best = candidate;
    }
  }
  return best.empty() ? "" : (", did you mean '" + best + "'?").str();
}

Error OptionsReader::checkUnknown() const {
  const Arg *unknown = list.getLastArgNoClaim(OPT_UNKNOWN);
  if (!unknown)
    return Error::success();
  std::string given = unknown->getAsString(list), nearest;
  std::string message = "unknown option '" + given + "'";
  // Far-fetched suggestions are worse than none.
  StringRef name = StringRef(given).split('=').first;
  if (table.findNearest(name, nearest, visibilityOf(set)) <= name.size() / 3 + 1)
    message += ", did you mean '" + StringRef(nearest).rtrim('=').str() + "'?";
  return usageError(message);
}

// --arg, --feed and --dim add up; every other option says one thing.
Error OptionsReader::checkValues() const {
  for (const Arg *arg : list) {
    const Option &option = arg->getOption();
    if (arg->getNumValues() == 0 || option.matches(OPT_INPUT) || option.matches(OPT_UNKNOWN))
      continue;
    if (StringRef(arg->getValue()).empty())
      return usageError("option '" + option.getPrefixedName() + "' expects a value");
    bool addsUp = option.matches(OPT_arg) || option.matches(OPT_feed) || option.matches(OPT_dim);
    if (!addsUp && list.getLastArgNoClaim(option.getID()) != arg)
      return usageError("option '" + option.getPrefixedName() + "' is given twice");
  }
  return Error::success();
}

Error OptionsReader::readInput(Options &options) const {
  std::vector<std::string> inputs = list.getAllArgValues(OPT_INPUT);
  if (inputs.size() > 1)
    return usageError("expected one program, found '" + inputs[0] + "' and '" + inputs[1] + "'");
  if (!inputs.empty())
    options.input = inputs.front();
  else if (!options.showEnv && !options.showHelp && !options.showVersion)
    return usageError(Twine("expected a program ") + programFile(set) + ", try --help");
  return Error::success();
}

// A file is written and nothing runs: what says how to run belongs on the command line of adrt-run.
Error OptionsReader::checkEmit(const Options &options) const {
  if (options.emit.empty())
    return Error::success();
  for (OptionId id : {OPT_feed, OPT_out_dir, OPT_print, OPT_threads, OPT_repeat, OPT_warmup,
                      OPT_timeout_kernel, OPT_check_gradients})
    if (list.hasArg(id))
      return usageError("--emit runs nothing: give " + table.getOption(id).getPrefixedName() +
                        " to adrt-run");
  if (options.traffic)
    return usageError("--emit runs nothing, so that --traffic would count nothing");
  if (options.target == Target::Reference)
    return usageError("--emit has no compiled code for target 'reference', expected cpu, gpu-sim or cuda");
  return Error::success();
}

// What is written must not replace the program, nor another output.
Error OptionsReader::checkOutputs(const Options &options) const {
  std::vector<std::pair<OptionId, StringRef>> outputs;
  for (OptionId id : {OPT_emit, OPT_report, OPT_numerics_report, OPT_dump_optimized})
    if (StringRef path = list.getLastArgValue(id); !path.empty())
      outputs.push_back({id, path});
  auto isSame = [](StringRef path, StringRef other) {
    return path == other || llvm::sys::fs::equivalent(path, other);
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto [id, path] = outputs[i];
    StringRef name = table.getOption(id).getPrefixedName();
    if (isSame(path, options.input))
      return usageError(name + " would replace the program '" + path + "'; name another file");
    for (size_t other = 0; other < i; ++other)
      if (isSame(path, outputs[other].second) && path != "/dev/null")
        return usageError(name + " and " + table.getOption(outputs[other].first).getPrefixedName() +
                          " would both write '" + path + "'; name two files");
  }
  return Error::success();
}

// A file that is compiled already has no use for what says how to compile.
Error OptionsReader::checkCompiled(const Options &options) const {
  if (!isCompiled(options))
    return Error::success();
  for (const Arg *arg : list)
    if (!arg->getOption().matches(OPT_INPUT) && !arg->getOption().hasVisibilityFlag(RunVis))
      return usageError("'" + options.input + "' is compiled already: " + arg->getOption().getPrefixedName() +
                        " has no meaning for it");
  return Error::success();
}

Error OptionsReader::readAssignments(OptionId id, std::vector<Assignment> &assignments) const {
  std::string option = table.getOption(id).getPrefixedName().str();
  for (StringRef value : list.getAllArgValues(id)) {
    auto [name, source] = value.split('=');
    if (name.empty() || source.empty())
      return usageError("expected " + option + " NAME=SOURCE, found '" + value + "'");
    for (const Assignment &other : assignments)
      if (other.name == name)
        return usageError(option + " '" + name + "' is given twice");
    assignments.push_back({name.str(), source.str()});
  }
  return Error::success();
}

Error OptionsReader::readDims(Options &options) const {
  for (StringRef value : list.getAllArgValues(OPT_dim)) {
    auto [place, number] = value.split('=');
    auto [name, axis] = place.rsplit('.');
    DimAssignment dim{name.str()};
    if (name.empty() || axis.getAsInteger(10, dim.axis) || number.getAsInteger(10, dim.size) ||
        dim.axis < 0 || dim.size < 0)
      return usageError("expected --dim NAME.AXIS=N, found '" + value + "'");
    options.dims.push_back(std::move(dim));
  }
  return Error::success();
}

Error OptionsReader::readCount(OptionId id, unsigned minimum, unsigned &value) const {
  if (!list.hasArg(id))
    return Error::success();
  std::string given = text(id);
  constexpr unsigned maximum = 1000000000;
  if (StringRef(given).getAsInteger(10, value) || value < minimum || value > maximum)
    return usageError("expected " + table.getOption(id).getPrefixedName() + " with a number of at least " +
                      Twine(minimum) + ", found '" + given + "'");
  return Error::success();
}

Error OptionsReader::readSeconds(OptionId id, double &value) const {
  std::string given = text(id);
  constexpr double maximum = 1e9;
  if (list.hasArg(id) && (StringRef(given).getAsDouble(value) || !(value > 0 && value <= maximum)))
    return usageError("expected " + table.getOption(id).getPrefixedName() +
                      " with a positive number of seconds, found '" + given + "'");
  return Error::success();
}

// One of a few names, which the error lists.
Error OptionsReader::readName(OptionId id, StringRef what, ArrayRef<StringRef> names,
                              std::string &value) const {
  value = text(id, value);
  if (!is_contained(names, value))
    return usageError("unknown " + what + " '" + value + "', expected " + llvm::join(names, " or ") +
                      suggestValue(value, names));
  return Error::success();
}

Expected<Options> OptionsReader::read() {
  Options options;
  options.showEnv = list.hasArg(OPT_env);
  options.showVersion = list.hasArg(OPT_version);
  options.showHelp = list.hasArg(OPT_help);
  if (Error error = checkUnknown())
    return std::move(error);
  if (Error error = checkValues())
    return std::move(error);
  if (Error error = readInput(options))
    return std::move(error);
  if (Error error = checkCompiled(options))
    return std::move(error);
  Expected<Target> target = parseTarget(text(OPT_target, "cpu"));
  if (!target)
    return target.takeError();
  options.target = *target;
  options.targetGiven = list.hasArg(OPT_target);
  if (list.hasArg(OPT_numerics))
    if (Error error = parseNumerics(text(OPT_numerics), options))
      return std::move(error);
  if (Error error = readName(OPT_fuse, "fusion policy", {"grow", "single"}, options.fuse))
    return std::move(error);
  if (Error error = readName(OPT_tiles, "tile table", {"large", "small"}, options.tiles))
    return std::move(error);
  if (list.hasArg(OPT_chip))
    if (Error error = readName(OPT_chip, "chip", {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100"},
                               options.chip))
      return std::move(error);
  if (Error error = readAssignments(OPT_arg, options.arguments))
    return std::move(error);
  if (Error error = readAssignments(OPT_feed, options.feeds))
    return std::move(error);
  if (Error error = readDims(options))
    return std::move(error);
  if (Error error = readCount(OPT_threads, 0, options.threads))
    return std::move(error);
  if (options.threads > kMaxThreads)
    return usageError("expected at most " + Twine(kMaxThreads) + " threads, found " + Twine(options.threads));
  if (Error error = readCount(OPT_repeat, 1, options.repeat))
    return std::move(error);
  if (Error error = readCount(OPT_warmup, 0, options.warmup))
    return std::move(error);
  if (Error error = readSeconds(OPT_timeout_kernel, options.timeoutKernel))
    return std::move(error);
  if (set == OptionSet::Compiler && !isCompiled(options))
    if (Error error = checkTimeout(options.timeoutKernel, options.target))
      return std::move(error);
  options.entry = text(OPT_entry, "main");
  options.entryGiven = list.hasArg(OPT_entry);
  options.outDir = text(OPT_out_dir);
  options.report = text(OPT_report);
  options.numericsReport = text(OPT_numerics_report);
  options.dumpOptimized = text(OPT_dump_optimized);
  options.cpu = text(OPT_cpu);
  options.cache = text(OPT_cache);
  options.emit = text(OPT_emit);
  options.print = list.hasArg(OPT_print);
  options.traffic = list.hasArg(OPT_traffic);
  if (Error error = checkEmit(options))
    return std::move(error);
  if (Error error = checkOutputs(options))
    return std::move(error);
  if (list.hasArg(OPT_chip) && (options.target == Target::Reference || options.target == Target::Cpu))
    return usageError("--chip is about kernels on a GPU, target '" + targetName(options.target) +
                      "' has none; add --target gpu-sim or cuda");
  if (options.traffic && options.target != Target::GpuSim)
    return usageError("--traffic is counted by the emulated GPU alone; add --target gpu-sim");
  options.checkGradients = list.hasArg(OPT_check_gradients);
  options.optimize = !list.hasArg(OPT_O0);
  return options;
}

} // namespace

Error mlir::ad::runner::checkTimeout(double timeoutKernel, Target target) {
  if (timeoutKernel == 0 || target == Target::GpuSim || target == Target::Cuda)
    return Error::success();
  return usageError("--timeout-kernel is about kernels on a GPU, target '" + targetName(target) +
                    "' has none");
}

StringRef mlir::ad::runner::targetName(Target target) {
  switch (target) {
  case Target::Reference:
    return "reference";
  case Target::Cpu:
    return "cpu";
  case Target::GpuSim:
    return "gpu-sim";
  case Target::Cuda:
    return "cuda";
  }
  return "";
}

unsigned mlir::ad::runner::resolveThreads(unsigned asked) {
  return asked ? asked : std::max(1u, std::thread::hardware_concurrency());
}

Expected<Target> mlir::ad::runner::parseTarget(StringRef name) {
  for (Target target : {Target::Reference, Target::Cpu, Target::GpuSim, Target::Cuda})
    if (name == targetName(target))
      return target;
  return usageError("unknown target '" + name + "', expected reference, cpu, gpu-sim or cuda" +
                    suggestValue(name, {"reference", "cpu", "gpu-sim", "cuda"}));
}

Error mlir::ad::runner::parseNumerics(StringRef text, Options &options) {
  static constexpr StringRef modes[] = {"reproducible", "strict", "fast"};
  static constexpr StringRef permissions[] = {"reorder", "algebra", "contract", "widen",
                                              "mma",     "narrow",  "approx",   "finite"};
  SmallVector<StringRef> words;
  text.split(words, ',');
  if (!is_contained(modes, words.front()))
    return usageError("unknown numerics mode '" + words.front() + "', expected reproducible, strict or fast" +
                      suggestValue(words.front(), modes));
  options.numericsMode = words.front().str();
  for (StringRef word : ArrayRef<StringRef>(words).drop_front()) {
    if (!is_contained(permissions, word))
      return usageError("unknown numerics permission '" + word +
                        "', expected reorder, algebra, contract, widen, mma, narrow, approx or finite" +
                        suggestValue(word, permissions));
    options.numericsPermissions.push_back(word.str());
  }
  return Error::success();
}

StringRef mlir::ad::runner::toolName(OptionSet set) {
  return set == OptionSet::Run ? "adrt-run" : "ad-runner";
}

Expected<Options> mlir::ad::runner::parseOptions(ArrayRef<const char *> arguments, OptionSet set) {
  RunnerOptTable table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList list = table.ParseArgs(arguments, missingIndex, missingCount, visibilityOf(set));
  if (missingCount != 0)
    return usageError("option '" + StringRef(list.getArgString(missingIndex)) + "' expects a value");
  return OptionsReader(table, list, set).read();
}

void mlir::ad::runner::printHelp(raw_ostream &os, OptionSet set) {
  std::string usage = (toolName(set) + " " + programFile(set) + " [options]").str();
  const char *title = set == OptionSet::Run ? "Runs a tensor program that ad-runner --emit has compiled"
                                            : "Compiles and runs a tensor program in the ad dialect";
  RunnerOptTable().printHelp(os, usage.c_str(), title, /*ShowHidden=*/false, /*ShowAllAliases=*/false,
                             visibilityOf(set));
  os << "\nExit codes: 0 done, 1 the program is wrong, 2 wrong usage or a file that cannot be read or "
        "written,\n"
        "3 a check in the program failed, 4 the target is not available, 5 a kernel took longer than "
        "--timeout-kernel,\n130 interrupted\n";
}
