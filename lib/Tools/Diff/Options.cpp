// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The command lines of ad-diff.
#include "Options.h"
#include "adjoint/Diff/MaxDiff.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/CommandLine.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;
using namespace llvm::opt;
using namespace mlir::ad::diff;
using namespace mlir::ad::runner;

namespace {

// Named in Options.td, next to DefaultVis. First those that subcommands share.
enum : unsigned {
  OutputVis = 1 << 1,
  BoundVis = 1 << 2,
  ProgramVis = 1 << 3,
  TargetVis = 1 << 4,
  TensorsVis = 1 << 5,
  MatrixVis = 1 << 6,
  AlignVis = 1 << 7,
  RunsVis = 1 << 8,
  BisectVis = 1 << 9,
  ShadowVis = 1 << 10,
  PrecisionVis = 1 << 11,
  NanVis = 1 << 12
};

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "DiffOptions.inc"
#undef OPTION
};

#define ADJOINT_OPTIONS "DiffOptions.inc"
#include "adjoint/Support/OptionTable.inc"

/// Whether a subcommand runs programs.
enum class Runs { Never, IfGivenPrograms, Always };

/// What a subcommand is called, takes and does; in the order of the enumeration.
struct CommandInfo {
  StringRef name, operands, title;
  unsigned visibility;
  size_t minInputs, maxInputs;
  ArrayRef<StringRef> bounds;
  Runs runs;
};

constexpr StringRef alignBounds[] = {"distance"};
constexpr size_t maxTensors = 256;
constexpr CommandInfo commands[] = {
    {"tensors", "EXPECTED.npy GOT.npy | EXPECTED/ GOT/",
     "Compares two tensors, or the tensors of two folders by name", OutputVis | BoundVis | TensorsVis, 2, 2,
     kTensorMeasures, Runs::Never},
    {"matrix", "A.npy B.npy…", "Compares several tensors pairwise", OutputVis | BoundVis | MatrixVis, 2,
     maxTensors, kTensorMeasures, Runs::Never},
    {"align", "A.tsv B.tsv | A/ B/ | A.mlir B.mlir", "Aligns the records of two runs side by side",
     OutputVis | BoundVis | ProgramVis | AlignVis, 2, 2, alignBounds, Runs::IfGivenPrograms},
    {"runs", "A/ B/", "Compares two traces of ad-runner value by value", OutputVis | BoundVis | RunsVis, 2, 2,
     kRunsMeasures, Runs::Never},
    {"stages", "FILE.mlir", "Runs a program after each pass and on each target",
     OutputVis | BoundVis | ProgramVis | TargetVis, 1, 1, kRunsMeasures, Runs::Always},
    {"nan",
     "FILE.mlir",
     "Finds the operations that make NaNs and infinities",
     OutputVis | ProgramVis | TargetVis | NanVis,
     1,
     1,
     {},
     Runs::Always},
    {"bisect", "FILE.mlir --a OPTIONS --b OPTIONS",
     "Finds the rewrites, or the operation and pass, that cause a difference of two configurations",
     OutputVis | BoundVis | ProgramVis | BisectVis, 1, 1, kTensorMeasures, Runs::Always},
    {"reduce", "FILE.mlir --a OPTIONS --b OPTIONS",
     "Finds the smallest part of a program that differs between two configurations",
     OutputVis | BoundVis | ProgramVis | BisectVis, 1, 1, kTensorMeasures, Runs::Always},
    {"shadow", "FILE.mlir", "Measures the rounding errors of each operation",
     OutputVis | BoundVis | ProgramVis | ShadowVis, 1, 1, kTensorMeasures, Runs::Always},
    {"precision", "FILE.mlir --policy POLICY --bound NAME=NUMBER",
     "Finds the operations that must compute in f32 for a bound",
     OutputVis | BoundVis | ProgramVis | PrecisionVis, 1, 1, kTensorMeasures, Runs::Always},
};

const CommandInfo &infoOf(Command command) { return commands[static_cast<size_t>(command)]; }

std::string commandNames() {
  return join(map_range(commands, [](const CommandInfo &info) { return info.name.str(); }), ", ");
}

/// Each function reads one kind of value or checks one rule.
class DiffOptionsReader : CommandLine {
public:
  DiffOptionsReader(const OptTable &table, const InputArgList &list, Command command)
      : CommandLine(table, list, Visibility(infoOf(command).visibility)), command(command) {}
  Expected<DiffOptions> read();

private:
  Error checkUnknown() const;
  Error readInputs(DiffOptions &options) const;
  Error readType(DiffOptions &options) const;
  Error readThresholds(DiffOptions &options) const;
  Error readBound(DiffOptions &options) const;
  Error readLabels(DiffOptions &options) const;
  Error readProgramOptions(DiffOptions &options) const;
  Error readNan(DiffOptions &options) const;
  Error readShadow(DiffOptions &options) const;
  Error readPrecision(DiffOptions &options) const;
  Error readOutputs(DiffOptions &options) const;
  Error readSides(DiffOptions &options) const;

  Command command;
};

// An option of another subcommand is named as such.
Error DiffOptionsReader::checkUnknown() const {
  const Arg *unknown = list.getLastArgNoClaim(OPT_UNKNOWN);
  if (!unknown)
    return Error::success();
  std::string given = unknown->getAsString(list);
  StringRef name = StringRef(given).split('=').first;
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    for (const CommandInfo &other : commands)
      if (Option option = table.getOption(id); option.getPrefixedName().rtrim('=') == name &&
                                               option.hasVisibilityFlag(Visibility(other.visibility)) &&
                                               !option.hasVisibilityFlag(visibility))
        return usageError("option '" + name + "' is one of 'ad-diff " + other.name + "', not of 'ad-diff " +
                          infoOf(command).name + "'");
  return CommandLine::checkUnknown(OPT_UNKNOWN);
}

Error DiffOptionsReader::readInputs(DiffOptions &options) const {
  const CommandInfo &info = infoOf(command);
  options.inputs = list.getAllArgValues(OPT_INPUT);
  size_t count = options.inputs.size();
  if (count >= info.minInputs && count <= info.maxInputs)
    return Error::success();
  std::string expected = (info.maxInputs > info.minInputs ? std::to_string(info.minInputs) + " to " : "") +
                         countText(info.maxInputs, "input");
  return usageError("expected " + expected + ", found " + Twine(count) + ": ad-diff " + info.name + " " +
                    info.operands + "; try --help");
}

Error DiffOptionsReader::readType(DiffOptions &options) const {
  if (!has(OPT_type))
    return Error::success();
  std::string name;
  if (Error error = readName(OPT_type, "element type", {"bf16", "f8E4M3FN", "f8E5M2"}, name))
    return error;
  options.rawType = parseElementType(name);
  return Error::success();
}

Error DiffOptionsReader::readThresholds(DiffOptions &options) const {
  ArrayRef<double> usual = getUsualThresholds();
  if (!has(OPT_thresholds)) {
    options.thresholds.assign(usual.begin(), usual.end());
    return Error::success();
  }
  std::string given = text(OPT_thresholds);
  for (StringRef word : split(given, ',')) {
    double threshold;
    if (word.getAsDouble(threshold) || !(threshold >= 0) || std::isinf(threshold))
      return usageError("expected --thresholds with numbers that are not negative, found '" + word + "'");
    options.thresholds.push_back(threshold);
  }
  return Error::success();
}

Error DiffOptionsReader::readBound(DiffOptions &options) const {
  if (!has(OPT_bound))
    return Error::success();
  return parseBound(text(OPT_bound), infoOf(command).bounds, "--bound").moveInto(options.bound);
}

// Files without labels have their names, without folder and ending.
Error DiffOptionsReader::readLabels(DiffOptions &options) const {
  if (!has(OPT_labels))
    return Error::success();
  std::string given = text(OPT_labels);
  for (StringRef label : split(given, ','))
    options.labels.push_back(label.str());
  if (options.labels.size() != options.inputs.size())
    return usageError("expected --labels with a name for each of the " + Twine(options.inputs.size()) +
                      " tensors, found " + Twine(options.labels.size()));
  std::vector<std::string> sorted = options.labels;
  llvm::sort(sorted);
  if (auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return usageError("--labels has the name '" + *twice + "' twice; give each tensor a name of its own");
  return Error::success();
}

// Their values are read with the names of the program.
Error DiffOptionsReader::readProgramOptions(DiffOptions &options) const {
  for (const Arg *arg : list)
    if (arg->getOption().hasVisibilityFlag(Visibility(ProgramVis | TargetVis))) {
      StringRef name = arg->getOption().getPrefixedName();
      options.program.push_back(arg->getNumValues() == 0 ? name.str()
                                                         : (name.rtrim('=') + "=" + arg->getValue()).str());
    }
  std::string mode;
  if (has(OPT_mode))
    if (Error error = readName(OPT_mode, "mode", {"execute", "nodes"}, mode))
      return error;
  options.nodes = mode == "nodes";
  if (has(OPT_mode) && !needsCompiler(options))
    return usageError("option '--mode' is about programs, and '" + options.inputs.front() + "' is none");
  if (options.program.empty() || needsCompiler(options))
    return Error::success();
  return usageError("option '" + StringRef(options.program.front()).split('=').first +
                    "' is about programs, and '" + options.inputs.front() + "' is none");
}

Error DiffOptionsReader::readSides(DiffOptions &options) const {
  if (command != Command::Bisect && command != Command::Reduce)
    return Error::success();
  if (!has(OPT_a) && !has(OPT_b) && !has(OPT_runner_a) && !has(OPT_runner_b))
    return usageError("expected --a or --b with options of ad-runner; both runs are alike without them");
  options.sideA = text(OPT_a);
  options.sideB = text(OPT_b);
  options.runnerA = text(OPT_runner_a);
  options.runnerB = text(OPT_runner_b);
  return readCount(OPT_seconds, 0, UINT32_MAX, options.seconds);
}

Error DiffOptionsReader::readNan(DiffOptions &options) const {
  if (command != Command::Nan)
    return Error::success();
  if (has(OPT_target))
    if (Error error = readName(OPT_target, "target", {"reference", "cpu", "gpu-sim", "cuda"}, options.target))
      return error;
  if (options.target != "reference")
    return Error::success();
  for (OptionId option : {OPT_threads, OPT_fuse, OPT_cpu, OPT_chip, OPT_cache})
    if (has(option))
      return usageError(table.getOption(option).getPrefixedName() +
                        " is about compiled programs; give --target cpu or gpu-sim, too");
  return Error::success();
}

Error DiffOptionsReader::readPrecision(DiffOptions &options) const {
  if (command != Command::Precision)
    return Error::success();
  options.policy = text(OPT_policy);
  if (options.policy.empty() || options.policy == "none")
    return usageError("expected --policy with bf16, f16, f8 or FILE.yaml");
  if (!options.bound)
    return usageError("expected --bound with the differences from f32 that are allowed");
  if (has(OPT_precision))
    return usageError("--precision is given by --policy; leave it out");
  std::string against = "f32";
  if (has(OPT_against))
    if (Error error = readName(OPT_against, "program", {"f32", "f64"}, against))
      return error;
  options.againstF64 = against == "f64";
  if (options.againstF64 && options.bound->ulp)
    return usageError(
        "--bound ulp counts steps between values of one type, and results of --against f64 have "
        "another one; bound l2, max, abs or rel");
  return Error::success();
}

Error DiffOptionsReader::readShadow(DiffOptions &options) const {
  constexpr unsigned minSamples = 2, maxSamples = 1000;
  if (Error error = readCount(OPT_stochastic, minSamples, maxSamples, options.samples))
    return error;
  if (Error error = readCount(OPT_seed, 0, UINT32_MAX, options.seed))
    return error;
  if (has(OPT_seed) && options.samples == 0)
    return usageError("--seed is about --stochastic, which is not given");
  options.order = options.samples == 0 ? ShadowOrder::Local : ShadowOrder::Digits;
  if (!has(OPT_sort))
    return Error::success();
  std::string name;
  if (Error error = readName(OPT_sort, "order", {"local", "total", "amplification", "digits"}, name))
    return error;
  if (options.samples > 0 && (name == "local" || name == "amplification"))
    return usageError("--sort " + name + " is about a run in f64; --stochastic measures total and digits");
  options.order = name == "local"    ? ShadowOrder::Local
                  : name == "total"  ? ShadowOrder::Total
                  : name == "digits" ? ShadowOrder::Digits
                                     : ShadowOrder::Amplification;
  return Error::success();
}

// What is written must not replace an input, nor another output.
Error DiffOptionsReader::readOutputs(DiffOptions &options) const {
  std::vector<std::pair<StringRef, std::string *>> outputs = {
      {"--json", &options.json}, {"--csv", &options.csv}, {"--svg", &options.svg}, {"--html", &options.html}};
  options.output = text(OPT_output);
  if (command == Command::Precision) // the others write folders
    outputs.push_back({"--output", &options.output});
  options.json = text(OPT_json);
  options.csv = text(OPT_csv);
  options.svg = text(OPT_svg);
  options.html = text(OPT_html);
  erase_if(outputs, [](const auto &output) { return output.second->empty(); });
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto [option, path] = outputs[i];
    for (StringRef input : options.inputs)
      if (*path != kStandardOutput && isSameFile(*path, input))
        return usageError(option + " would replace the input '" + input + "'; name another file");
    for (size_t other = 0; other < i; ++other)
      if (isSameFile(*path, *outputs[other].second) && *path != "/dev/null")
        return usageError(option + " and " + outputs[other].first + " would both write '" + *path +
                          "'; name two files");
    if (Error error = checkWritable(*path))
      return error;
  }
  return Error::success();
}

Expected<DiffOptions> DiffOptionsReader::read() {
  DiffOptions options;
  options.command = command;
  options.describe = has(OPT_describe);
  options.title = text(OPT_title);
  if (has(OPT_measure))
    if (Error error = readName(OPT_measure, "measure", kTensorMeasures, options.measure))
      return std::move(error);
  constexpr unsigned minColumn = 20, maxColumn = 1000;
  if (Error error = checkUnknown())
    return std::move(error);
  if (Error error = checkValues({OPT_arg, OPT_feed, OPT_dim}))
    return std::move(error);
  if (Error error = readCount(OPT_column, minColumn, maxColumn, options.column))
    return std::move(error);
  using Read = Error (DiffOptionsReader::*)(DiffOptions &) const;
  for (Read read :
       {&DiffOptionsReader::readInputs, &DiffOptionsReader::readType, &DiffOptionsReader::readThresholds,
        &DiffOptionsReader::readBound, &DiffOptionsReader::readLabels, &DiffOptionsReader::readProgramOptions,
        &DiffOptionsReader::readSides, &DiffOptionsReader::readNan, &DiffOptionsReader::readShadow,
        &DiffOptionsReader::readPrecision, &DiffOptionsReader::readOutputs})
    if (Error error = (this->*read)(options))
      return std::move(error);
  return options;
}

} // namespace

std::optional<Command> mlir::ad::diff::findCommand(StringRef name) {
  for (const CommandInfo &info : commands)
    if (info.name == name)
      return static_cast<Command>(&info - commands);
  return std::nullopt;
}

bool mlir::ad::diff::isProgram(StringRef path) {
  return path.ends_with(".mlir") || path.ends_with(".mlirbc");
}

bool mlir::ad::diff::needsCompiler(const DiffOptions &options) {
  switch (infoOf(options.command).runs) {
  case Runs::Never:
    return false;
  case Runs::IfGivenPrograms:
    return any_of(options.inputs, [](StringRef path) { return isProgram(path); });
  case Runs::Always:
    return true;
  }
  return false;
}

Expected<DiffOptions> mlir::ad::diff::parseDiffOptions(ArrayRef<const char *> arguments) {
  if (arguments.empty())
    return usageError("expected a subcommand: " + commandNames() + "; try --help");
  StringRef name = arguments.front();
  DiffOptions options;
  options.showHelp = true;
  if (name == "--help" || name == "-h")
    return options;
  std::optional<Command> command = findCommand(name);
  SmallVector<StringRef> names(map_range(commands, [](const CommandInfo &info) { return info.name; }));
  if (!command)
    return usageError("unknown subcommand '" + name + "', expected one of " + commandNames() +
                      suggestValue(name, names));
  options.command = *command;
  OptionTable table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList list = table.ParseArgs(arguments.drop_front(), missingIndex, missingCount,
                                      Visibility(infoOf(*command).visibility));
  // Whoever asks for help gets it, whatever else is wrong.
  if (list.hasArg(OPT_help))
    return options;
  if (missingCount != 0)
    return usageError("option '" + StringRef(list.getArgString(missingIndex)) + "' expects a value");
  return DiffOptionsReader(table, list, *command).read();
}

void mlir::ad::diff::printDiffHelp(raw_ostream &os, std::optional<Command> command) {
  if (command) {
    const CommandInfo &info = infoOf(*command);
    std::string usage = ("ad-diff " + info.name + " " + info.operands + " [options]").str();
    OptionTable().printHelp(os, usage.c_str(), info.title.str().c_str(), /*ShowHidden=*/false,
                            /*ShowAllAliases=*/false, Visibility(info.visibility));
  } else {
    os << "OVERVIEW: Tells how two numerical runs differ\n\nUSAGE: ad-diff SUBCOMMAND …\n\nSUBCOMMANDS:\n";
    constexpr unsigned nameColumn = 11;
    for (const CommandInfo &info : commands)
      os << "  " << left_justify(info.name, nameColumn) << info.title << ": " << info.operands << "\n";
    os << "\nad-diff SUBCOMMAND --help lists the options of a subcommand.\n";
  }
  os << "\nExit codes: 0 done, 1 a difference is larger than its bound or something was found, 2 wrong "
        "usage, a file\n"
        "that cannot be read, compared or written, or a program that fails, 4 no memory, threads or device "
        "for a\n"
        "program\n";
}
