// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The command line of ad-gpu-emulate.
#include "Options.h"
#include "adjoint/Support/CommandLine.h"

using namespace llvm;
using namespace llvm::opt;
using namespace mlir::ad::emulator;
using namespace mlir::ad::runner;

namespace {

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "EmulatorOptions.inc"
#undef OPTION
};

#define ADJOINT_OPTIONS "EmulatorOptions.inc"
#include "adjoint/Support/OptionTable.inc"

class OptionsReader : CommandLine {
public:
  OptionsReader(const OptTable &table, const InputArgList &list)
      : CommandLine(table, list, Visibility(DefaultVis)) {}
  Expected<ToolOptions> read();

private:
  Error readDim(OptionId id, StringRef name, adsim::Dim3 &dim) const;
  template <typename Number>
  Error readNumber(OptionId id, StringRef name, uint64_t min, uint64_t max, Number &number) const;
  template <typename Enum, size_t count>
  Error readEnum(OptionId id, StringRef what, const char *const (&names)[count], Enum &value) const;
};

Error OptionsReader::readDim(OptionId id, StringRef name, adsim::Dim3 &dim) const {
  SmallVector<StringRef> parts;
  StringRef text = list.getLastArgValue(id, "1");
  text.split(parts, ',');
  if (parts.size() > 3)
    return usageError("option '--" + name + "' expects at most three sizes, got '" + text + "'");
  uint32_t *sizes[] = {&dim.x, &dim.y, &dim.z};
  for (size_t i = 0; i < parts.size(); ++i) {
    Expected<uint64_t> size = parseNumber(parts[i], ("option '--" + name + "'").str(), UINT32_MAX);
    if (!size)
      return size.takeError();
    *sizes[i] = static_cast<uint32_t>(*size);
  }
  return Error::success();
}

template <typename Number>
Error OptionsReader::readNumber(OptionId id, StringRef name, uint64_t min, uint64_t max,
                                Number &number) const {
  const Arg *arg = list.getLastArg(id);
  if (!arg)
    return Error::success();
  Expected<uint64_t> value = parseNumber(arg->getValue(), ("option '--" + name + "'").str(), max);
  if (!value)
    return value.takeError();
  if (*value < min)
    return usageError("option '--" + name + "' expects a number from " + Twine(min) + " to " + Twine(max) +
                      ", got '" + arg->getValue() + "'");
  number = static_cast<Number>(*value);
  return Error::success();
}

template <typename Enum, size_t count>
Error OptionsReader::readEnum(OptionId id, StringRef what, const char *const (&names)[count],
                              Enum &value) const {
  SmallVector<StringRef> known(std::begin(names), std::end(names));
  std::string name = known.front().str();
  if (Error error = readName(id, what, known, name))
    return error;
  value = static_cast<Enum>(llvm::find(known, name) - known.begin());
  return Error::success();
}

Expected<ToolOptions> OptionsReader::read() {
  ToolOptions options;
  if (Error error = checkUnknown(OPT_UNKNOWN))
    return std::move(error);
  if (Error error = checkValues({OPT_arg, OPT_out}))
    return std::move(error);
  std::vector<std::string> inputs = list.getAllArgValues(OPT_INPUT);
  if (inputs.size() != 1)
    return usageError("expected one FILE.mlir, got " + Twine(inputs.size()) + "; try --help");
  options.input = inputs.front();
  options.kernel = list.getLastArgValue(OPT_kernel).str();
  options.arguments = list.getAllArgValues(OPT_arg);
  options.outputs = list.getAllArgValues(OPT_out);
  options.detectRaces = !list.hasArg(OPT_no_race_detection);
  options.showStatistics = list.hasArg(OPT_stats);
  constexpr uint64_t maxThreads = 1024;
  Error errors[] = {
      readDim(OPT_grid, "grid", options.grid),
      readDim(OPT_block, "block", options.block),
      readDim(OPT_cluster, "cluster", options.cluster),
      readNumber(OPT_shared, "shared", 0, UINT32_MAX, options.sharedBytes),
      readNumber(OPT_seed, "seed", 0, UINT64_MAX, options.seed),
      readNumber(OPT_threads, "threads", 1, maxThreads, options.threads),
      readNumber(OPT_repeat, "repeat", 1, UINT32_MAX, options.repeat),
      readEnum(OPT_schedule, "schedule", adsim::kScheduleNames, options.schedule),
      readEnum(OPT_matrix_sums, "kind of matrix sums", adsim::kMatrixSumsNames, options.matrixSums)};
  Error all = Error::success();
  for (Error &error : errors)
    all = joinErrors(std::move(all), std::move(error));
  if (all)
    return std::move(all);
  return options;
}

} // namespace

Expected<uint64_t> mlir::ad::emulator::parseNumber(StringRef text, StringRef what, uint64_t max) {
  uint64_t number;
  if (text.getAsInteger(10, number) || number > max)
    return usageError(what + " expects a number up to " + Twine(max) + ", got '" + text + "'");
  return number;
}

Expected<ToolOptions> mlir::ad::emulator::parseToolOptions(ArrayRef<const char *> arguments) {
  OptionTable table;
  unsigned missingIndex, missingCount;
  InputArgList list = table.ParseArgs(arguments, missingIndex, missingCount);
  // --help is honoured even if other options are wrong.
  if (list.hasArg(OPT_help)) {
    ToolOptions options;
    options.showHelp = true;
    return options;
  }
  if (missingCount)
    return usageError("option '" + StringRef(arguments[missingIndex]) + "' expects a value");
  return OptionsReader(table, list).read();
}

void mlir::ad::emulator::printToolHelp(raw_ostream &os) {
  OptionTable table;
  table.printHelp(os, "ad-gpu-emulate FILE.mlir [options]",
                  "Runs a kernel in the NVVM dialect on the emulated GPU, under its checks.");
}
