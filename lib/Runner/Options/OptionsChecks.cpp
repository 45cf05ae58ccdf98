// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rules of the command line: unknown options, options that contradict each other, and outputs that would
// replace inputs.
#include "OptionsReader.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::opt;
using namespace mlir::ad::runner;

bool OptionsReader::isOptionOf(OptionSet other, StringRef name) const {
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (Option option = table.getOption(id); option.getPrefixedName().rtrim('=') == name)
      return option.hasVisibilityFlag(visibilityOf(other));
  return false;
}

Error OptionsReader::checkUnknown() const {
  const Arg *unknown = list.getLastArgNoClaim(OPT_UNKNOWN);
  if (!unknown)
    return Error::success();
  std::string given = unknown->getAsString(list);
  StringRef name = StringRef(given).split('=').first;
  if (set == OptionSet::Run && (name == "--traffic" || name == "--check-gradients" || name == "--emit"))
    return usageError("option '" + name + "' needs the program in MLIR; give both to ad-runner");
  if (set == OptionSet::Run && !isOptionOf(OptionSet::Run, name) && isOptionOf(OptionSet::Compiler, name))
    return usageError("option '" + name +
                      "' says how to compile, and FILE.adx is compiled already; give it to ad-runner --emit");
  if (set == OptionSet::Compiler && name.starts_with("-O"))
    return usageError("unknown option '" + given +
                      "', expected -O0, which does not simplify the program, or nothing, which does");
  return CommandLine::checkUnknown(OPT_UNKNOWN);
}

// --emit writes a file and runs nothing: options about runs belong on the command line of adrt-run.
Error OptionsReader::checkEmit(const Options &options) const {
  if (options.emit.empty())
    return Error::success();
  for (OptionId id :
       {OPT_feed, OPT_out_dir, OPT_print, OPT_threads, OPT_repeat, OPT_warmup, OPT_bench, OPT_bench_eq,
        OPT_timeout_kernel, OPT_schedule, OPT_seed, OPT_sm_count, OPT_no_race_detection, OPT_no_replay})
    if (list.hasArg(id))
      return usageError("--emit runs nothing: give " + table.getOption(id).getPrefixedName().rtrim('=') +
                        " to adrt-run");
  for (const DimAssignment &dim : options.dims)
    if (none_of(options.arguments, [&](const Assignment &given) {
          return StringRef(given.name + "=" + given.value).starts_with(dim.name + "=");
        }))
      return usageError("--emit runs nothing: give --dim to adrt-run, or argument '" + dim.name +
                        "' a source");
  StringRef ending = llvm::sys::path::extension(options.emit);
  if (!ending.empty() && ending != ".adx" && ending != ".o" && ending != ".so")
    return usageError("--emit chooses what it writes by the end of the name, .adx, .o or .so, but got '" +
                      options.emit + "'");
  if (options.target == Target::Reference)
    return usageError("--emit has no compiled code for target 'reference', expected cpu, gpu-sim or cuda");
  return Error::success();
}

// An output must not replace the program, a source or another output.
Error OptionsReader::checkOutputs(const Options &options) const {
  std::vector<std::pair<OptionId, StringRef>> outputs;
  for (OptionId id : {OPT_emit, OPT_report, OPT_numerics_report, OPT_dump_optimized, OPT_dump_plan,
                      OPT_list_rewrites, OPT_bench_eq})
    if (StringRef path = list.getLastArgValue(id); !path.empty())
      outputs.push_back({id, path});
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto [id, path] = outputs[i];
    StringRef name = table.getOption(id).getPrefixedName().rtrim('=');
    // An input of the same name is standard input.
    if (path != kStandardOutput && isSameFile(path, options.input))
      return usageError(name + " would replace the program '" + path + "'; name another file");
    for (const Assignment &source : llvm::concat<const Assignment>(options.arguments, options.feeds)) {
      StringRef file = source.value;
      file.consume_back(",cycle");
      if (isSameFile(path, file))
        return usageError(name + " would write into '" + path + "', the source of '" + source.name +
                          "'; name another file");
    }
    for (size_t other = 0; other < i; ++other)
      if (isSameFile(path, outputs[other].second) && path != "/dev/null")
        return usageError(name + " and " + table.getOption(outputs[other].first).getPrefixedName() +
                          " would both write '" + path + "'; name two files");
  }
  return Error::success();
}

// Options about compilation have no meaning for a compiled file.
Error OptionsReader::checkCompiled(const Options &options) const {
  if (!isCompiled(options))
    return Error::success();
  for (const Arg *arg : list)
    if (!arg->getOption().matches(OPT_INPUT) && !arg->getOption().hasVisibilityFlag(RunVis))
      return usageError("'" + options.input + "' is compiled already: " + arg->getOption().getPrefixedName() +
                        " has no meaning for it");
  return Error::success();
}

Error OptionsReader::checkTogether(const Options &options) const {
  SmallVector<StringRef> given;
  for (const Arg *arg : list)
    given.push_back(arg->getOption().getPrefixedName().rtrim('='));
  if (isAboutTool(options))
    return checkOptionsOfText(given);
  return checkOptionsTogether(given, options);
}
