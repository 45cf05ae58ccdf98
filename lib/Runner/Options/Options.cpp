// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads the values of the command line.
#include "OptionsReader.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/Transforms/FusePolicies.h"
#include "adjoint/Numerics/BuiltinPolicies.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::opt;
using namespace mlir::ad;
using namespace mlir::ad::runner;

namespace {

#define ADJOINT_OPTIONS "Options.inc"
#include "adjoint/Support/OptionTable.inc"

} // namespace

Error OptionsReader::readInput(Options &options) const {
  std::vector<std::string> inputs = list.getAllArgValues(OPT_INPUT);
  if (inputs.size() > 1)
    return usageError("expected one program, found '" + inputs[0] + "' and '" + inputs[1] + "'");
  if (!inputs.empty() && StringRef(inputs.front()).ends_with(".npy"))
    return usageError(Twine("expected a program ") + programFile(set) + ", found the array '" +
                      inputs.front() + "'; give arrays to --arg NAME=FILE.npy");
  if (has(OPT_replay) && !inputs.empty())
    return usageError("--replay runs the program of the trace; leave '" + inputs.front() + "' out");
  if (has(OPT_replay))
    return Error::success();
  if (!inputs.empty())
    options.input = inputs.front();
  else if (!isAboutTool(options))
    return usageError(Twine("expected a program ") + programFile(set) + ", try --help");
  return Error::success();
}

Error OptionsReader::readAssignments(OptionId id, std::vector<Assignment> &assignments) const {
  std::string option = table.getOption(id).getPrefixedName().str();
  for (StringRef value : list.getAllArgValues(id)) {
    auto [name, source] = value.split('=');
    if (name.empty() || source.empty())
      return usageError("expected " + option + " NAME=SOURCE, found '" + value + "'");
    // With a second `=`, the names of the program decide which one ends the name.
    for (const Assignment &other : assignments)
      if (other.name == name && !source.contains('=') && !StringRef(other.value).contains('='))
        return usageError(option + " '" + name + "' is given twice");
    assignments.push_back({name.str(), source.str()});
  }
  return Error::success();
}

Error OptionsReader::readDims(Options &options) const {
  for (StringRef value : list.getAllArgValues(OPT_dim)) {
    auto [target, number] = value.rsplit('=');
    auto [name, axis] = target.rsplit('.');
    DimAssignment dim{name.str()};
    if (name.empty() || axis.getAsInteger(10, dim.axis) || number.getAsInteger(10, dim.size) ||
        dim.axis < 0 || dim.size < 0)
      return usageError("expected --dim NAME.AXIS=N with numbers from 0 to 9223372036854775807, found '" +
                        value + "'");
    for (const DimAssignment &other : options.dims)
      if (other.name == dim.name && other.axis == dim.axis)
        return usageError("--dim " + dim.name + "." + Twine(dim.axis) + " is given twice");
    options.dims.push_back(std::move(dim));
  }
  return Error::success();
}

// Without --threads the environment gives the number, unless only the version is printed.
Error OptionsReader::readThreads(Options &options) const {
  if (list.hasArg(OPT_threads))
    return readCount(OPT_threads, 0, kMaxThreads, options.threads);
  if (options.showVersion || options.listKernels || !options.printPrecision.empty())
    return Error::success();
  return defaultThreads().moveInto(options.threads);
}

Error OptionsReader::readMemoryLimit(int64_t &bytes) const {
  std::string given = text(OPT_memory_limit);
  if (given.empty() && !list.hasArg(OPT_memory_limit))
    return Error::success();
  StringRef number = given;
  int64_t unit = number.consume_back("K") ? 1 << 10 : number.consume_back("M") ? 1 << 20 : 1;
  if (number.consume_back("G"))
    unit = 1 << 30;
  if (number.getAsInteger(10, bytes) || bytes <= 0 || llvm::MulOverflow(bytes, unit, bytes))
    return usageError(
        "expected --memory-limit with a positive number of bytes, or of K, M or G, such as 4G, found '" +
        given + "'");
  return Error::success();
}

Error OptionsReader::readSeconds(OptionId id, double &value) const {
  std::string given = text(id);
  constexpr double minimum = 1e-9, maximum = 1e9;
  if (list.hasArg(id) && (StringRef(given).getAsDouble(value) || !(value >= minimum && value <= maximum)))
    return usageError("expected " + table.getOption(id).getPrefixedName() +
                      " with a number of seconds from 1e-9 to 1e9, found '" + given + "'");
  return Error::success();
}

Error OptionsReader::readTarget(Options &options) const {
  Expected<Target> target = parseTarget(text(OPT_target, "cpu"));
  if (!target)
    return target.takeError();
  options.target = *target;
  options.targetGiven = list.hasArg(OPT_target);
  options.entry = text(OPT_entry, "main");
  options.entryGiven = list.hasArg(OPT_entry);
  return Error::success();
}

static SmallVector<StringRef> builtinPolicies() {
  std::vector<std::string_view> names = numerics::builtinPolicyNames();
  return SmallVector<StringRef>(names.begin(), names.end());
}

Error OptionsReader::readCompilation(Options &options) const {
  options.optimize = !list.hasArg(OPT_O0);
  options.allowNative = list.hasArg(OPT_allow_native);
  options.cpu = text(OPT_cpu);
  options.cache = text(OPT_cache);
  if (list.hasArg(OPT_numerics))
    if (Error error = parseNumerics(text(OPT_numerics), options))
      return usageError("--numerics: " + consumeExitError(std::move(error)).second);
  options.precision = text(OPT_precision);
  options.kernels = llvm::join(list.getAllArgValues(OPT_kernel), ",");
  options.missingKernels = text(OPT_missing_kernels);
  options.pathPrefixMap = text(OPT_path_prefix_map);
  if (list.hasArg(OPT_path_prefix_map) && !StringRef(options.pathPrefixMap).contains('='))
    return usageError("expected --path-prefix-map OLD=NEW, found '" + options.pathPrefixMap + "'");
  options.rewritesOnly = text(OPT_rewrites_only);
  options.rewritesExcept = text(OPT_rewrites_except);
  if (list.hasArg(OPT_print_precision))
    if (Error error = readName(OPT_print_precision, "policy", builtinPolicies(), options.printPrecision))
      return error;
  SmallVector<StringRef> fusePolicies;
  for (const FusePolicy &known : kFusePolicies)
    fusePolicies.push_back(known.name);
  if (Error error = readName(OPT_fuse, "fusion policy", fusePolicies, options.fuse))
    return error;
  if (Error error = readName(OPT_tiles, "tile table", {"large", "small"}, options.tiles))
    return error;
  options.tile = text(OPT_tile);
  if (!options.tile.empty() && !isTile(options.tile))
    return usageError("--tile: expected ROWSxCOLUMNS, such as 128x128, or 2x128x256, found '" + options.tile +
                      "'");
  if (!list.hasArg(OPT_chip))
    return Error::success();
  SmallVector<StringRef> names;
  for (const Chip &chip : chips())
    names.push_back(chip.name);
  return readName(OPT_chip, "chip", names, options.chip);
}

Error OptionsReader::readSources(Options &options) const {
  if (Error error = readAssignments(OPT_arg, options.arguments))
    return error;
  if (Error error = readAssignments(OPT_feed, options.feeds))
    return error;
  return readDims(options);
}

Error OptionsReader::readRuns(Options &options) const {
  constexpr unsigned maxRuns = 10000000; // their times take 80 MB
  if (Error error = readThreads(options))
    return error;
  if (Error error = readMemoryLimit(options.memoryLimit))
    return error;
  if (Error error = readBench(options))
    return error;
  if (Error error = readCount(OPT_repeat, 1, maxRuns, options.repeat))
    return error;
  if (Error error = readCount(OPT_warmup, 0, maxRuns, options.warmup))
    return error;
  if (Error error = readSeconds(OPT_timeout_kernel, options.timeoutKernel))
    return error;
  if (Error error = readEmulation(options.emulation))
    return error;
  options.checkGradients = list.hasArg(OPT_check_gradients);
  options.replay = !list.hasArg(OPT_no_replay);
  // A compiled file states its target.
  if (set == OptionSet::Run || isCompiled(options))
    return Error::success();
  return checkKernelOptions(options, options.target);
}

// The device makes graphs in the second run, so two runs warm up.
Error OptionsReader::readBench(Options &options) const {
  if (list.hasArg(OPT_bench) && list.hasArg(OPT_bench_eq))
    return usageError("option '--bench' is given twice");
  if (!list.hasArg(OPT_bench) && !list.hasArg(OPT_bench_eq))
    return Error::success();
  options.bench = text(OPT_bench_eq, kStandardOutput);
  options.warmup = 2;
  options.repeat = 10;
  return Error::success();
}

Error OptionsReader::readEmulation(adrt::Emulation &emulation) const {
  SmallVector<StringRef> schedules(std::begin(adsim::kScheduleNames), std::end(adsim::kScheduleNames));
  std::string schedule = schedules[0].str();
  if (list.hasArg(OPT_schedule))
    if (Error error = readName(OPT_schedule, "schedule", schedules, schedule))
      return error;
  emulation.schedule = static_cast<adsim::Schedule>(find(schedules, schedule) - schedules.begin());
  unsigned seed = 0;
  if (Error error = readCount(OPT_seed, 0, std::numeric_limits<unsigned>::max(), seed))
    return error;
  if (list.hasArg(OPT_seed) && emulation.schedule != adsim::Schedule::Shuffled)
    return usageError("--seed seeds --schedule shuffled; add it");
  emulation.seed = seed;
  if (Error error = readCount(OPT_sm_count, 1, kMaxSMCount, emulation.smCount))
    return error;
  emulation.detectRaces = !list.hasArg(OPT_no_race_detection);
  return Error::success();
}

Error OptionsReader::readOutputs(Options &options) const {
  options.outDir = text(OPT_out_dir);
  options.report = text(OPT_report);
  options.numericsReport = text(OPT_numerics_report);
  options.dumpOptimized = text(OPT_dump_optimized);
  options.dumpPlan = text(OPT_dump_plan);
  options.listRewrites = text(OPT_list_rewrites);
  options.emit = text(OPT_emit);
  options.trace = text(OPT_trace);
  options.traceTensors = text(OPT_trace_tensors);
  if (has(OPT_trace_tensors) && llvm::is_contained(llvm::split(options.traceTensors, ','), StringRef()))
    return usageError("expected --trace-tensors with all, or with names separated by commas, found '" +
                      options.traceTensors + "'");
  options.replayFolder = text(OPT_replay);
  options.print = list.hasArg(OPT_print);
  options.traffic = list.hasArg(OPT_traffic);
  return Error::success();
}

Expected<Options> OptionsReader::read() {
  Options options;
  options.showEnv = list.hasArg(OPT_env);
  options.showVersion = list.hasArg(OPT_version);
  options.listKernels = list.hasArg(OPT_list_kernels);
  options.printPrecision = text(OPT_print_precision);
  using Read = Error (OptionsReader::*)(Options &) const;
  using Check = Error (OptionsReader::*)(const Options &) const;
  if (Error error = checkUnknown())
    return std::move(error);
  // These may be repeated; every other option may be given once.
  if (Error error = checkValues({OPT_arg, OPT_feed, OPT_dim, OPT_kernel}))
    return std::move(error);
  // Sources first: a source that is split at a space leaves a word that looks like a second program.
  if (Error error = readSources(options))
    return std::move(error);
  if (Error error = readInput(options))
    return std::move(error);
  if (Error error = checkCompiled(options))
    return std::move(error);
  for (Read read : {&OptionsReader::readTarget, &OptionsReader::readCompilation, &OptionsReader::readRuns,
                    &OptionsReader::readOutputs})
    if (Error error = (this->*read)(options))
      return std::move(error);
  for (Check check : {&OptionsReader::checkOutputs, &OptionsReader::checkEmit, &OptionsReader::checkTogether})
    if (Error error = (this->*check)(options))
      return std::move(error);
  return options;
}

StringRef mlir::ad::runner::toolName(OptionSet set) {
  return set == OptionSet::Run ? "adrt-run" : "ad-runner";
}

Expected<Options> mlir::ad::runner::parseOptions(ArrayRef<const char *> arguments, OptionSet set) {
  OptionTable table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList list = table.ParseArgs(arguments, missingIndex, missingCount, visibilityOf(set));
  // --help is obeyed even if the rest of the command line is wrong.
  if (list.hasArg(OPT_help)) {
    Options options;
    options.showHelp = true;
    return options;
  }
  if (missingCount != 0)
    return usageError("option '" + StringRef(list.getArgString(missingIndex)) + "' expects a value");
  return OptionsReader(table, list, set).read();
}

void mlir::ad::runner::printHelp(raw_ostream &os, OptionSet set) {
  std::string usage = (toolName(set) + " " + programFile(set) + " [options]").str();
  const char *title = set == OptionSet::Run ? "Runs a tensor program that ad-runner --emit has compiled"
                                            : "Compiles and runs a tensor program in the ad dialect";
  OptionTable().printHelp(os, usage.c_str(), title, /*ShowHidden=*/false, /*ShowAllAliases=*/false,
                          visibilityOf(set));
  os << "\nExit codes: 0 done, 1 the program is wrong, 2 wrong usage or a file that cannot be read or "
        "written,\n"
        "3 a check in the program failed, 4 the target is not available or fails, or there is too little "
        "memory\n"
        "or no thread, 5 a kernel took longer than --timeout-kernel, 130 interrupted\n";
}
