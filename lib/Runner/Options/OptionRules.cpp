// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which options have a meaning for which target and together with which other options. An option without an
// effect is refused, since its user expects one.
#include "OptionValues.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir::ad::runner;

namespace {

constexpr unsigned bit(Target target) { return 1U << static_cast<unsigned>(target); }
constexpr unsigned onHost = bit(Target::Cpu);
constexpr unsigned onDevice = bit(Target::GpuSim) | bit(Target::Cuda);

/// The targets that an option applies to, and the message for other targets with its advice.
struct TargetRule {
  StringRef option;
  unsigned targets;
  StringRef about, advice;
};

constexpr TargetRule targetRules[] = {
    {"--chip", onDevice, " is about kernels on a GPU, target '{}' has none",
     "; add --target gpu-sim or cuda"},
    {"--tile", onDevice, " is about kernels on a GPU, target '{}' has none",
     "; add --target gpu-sim or cuda"},
    {"--traffic", bit(Target::GpuSim), " is counted by the emulated GPU alone", "; add --target gpu-sim"},
    {"--tiles", onHost, " is about kernels on the CPU, target '{}' has none", "; leave it out"},
    {"--fuse", onHost | onDevice, " says which operations share a kernel, target '{}' has none",
     "; leave it out"},
    {"--dump-plan", onHost | onDevice, " writes the memory plan of kernels, target '{}' has none",
     "; leave it out"},
    {"--missing-kernels", onHost | onDevice, " says what kernels to compile, target '{}' has none",
     "; leave it out"},
    {"--path-prefix-map", onHost | onDevice, " is about names in compiled code, target '{}' compiles nothing",
     "; leave it out"},
    {"--cpu", onHost | onDevice, " says what to compile for, target '{}' compiles nothing", "; leave it out"},
};

/// Options that have no effect together with `dominant`.
struct Conflict {
  StringRef dominant;
  ArrayRef<StringRef> options;
  StringRef reason;
};

constexpr StringRef aboutRuns[] = {"--print",   "--out-dir",       "--repeat",   "--warmup",
                                   "--threads", "--bench",         "--trace",    "--numerics-report",
                                   "--replay",  "--list-rewrites", "--dump-plan"};
constexpr StringRef aboutChecks[] = {"--traffic", "--check-gradients", "--trace", "--replay"};
constexpr StringRef plans[] = {"--dump-plan"};
/// A trace is of one run, and a run that is repeated has the options of that trace.
constexpr StringRef aboutSeveralRuns[] = {"--repeat", "--warmup", "--bench"};
constexpr StringRef recorded[] = {
    "--entry", "--arg", "--feed", "--dim", "--numerics", "--precision",       "--fuse",           "--tiles",
    "--tile",  "--cpu", "--chip", "-O0",   "--kernel",   "--missing-kernels", "--path-prefix-map"};
constexpr StringRef native[] = {"--allow-native"};
constexpr StringRef choicesOfRewrites[] = {"--rewrites-only", "--rewrites-except"};
constexpr StringRef otherRewrites[] = {"--rewrites-except"};
constexpr Conflict conflicts[] = {
    {"--check-gradients", aboutRuns, "--check-gradients prints how gradients compare, and nothing else"},
    {"--emit", aboutChecks, "--emit runs nothing"},
    {"--trace", aboutSeveralRuns, "--trace records one run"},
    {"--trace", plans, "--trace compiles a program with another memory plan"},
    {"--replay", choicesOfRewrites, "--replay repeats the recorded run"},
    {"--rewrites-only", otherRewrites, "--rewrites-only allows no rewrites but those of its file"},
    {"--replay", recorded, "--replay repeats the recorded run"},
    {"--replay", native, "--replay runs no native code"},
};

/// An option that needs one of `others`.
struct Need {
  StringRef option;
  ArrayRef<StringRef> others;
  StringRef reason;
};

constexpr StringRef measured[] = {"--repeat", "--report", "--bench"};
constexpr StringRef traced[] = {"--trace"};
constexpr Need needs[] = {
    {"--trace-tensors", traced, "--trace-tensors says what --trace keeps; add --trace DIR"},
    {"--warmup", measured, "--warmup comes before what is measured; add --repeat, --report or --bench"},
};

/// Options that --bench ignores, and options that change the times that it measures.
constexpr StringRef aboutResults[] = {"--print", "--out-dir"};
constexpr StringRef disturbing[] = {"--timeout-kernel", "--report", "--traffic"};

Error checkBench(function_ref<bool(StringRef)> has) {
  for (StringRef option : aboutResults)
    if (has(option))
      return usageError("--bench does not copy results to the host; leave " + option +
                        " out, or run the program once more without --bench");
  for (StringRef option : disturbing)
    if (has(option))
      return usageError("--bench measures what " + option + " changes; leave one of them out");
  return Error::success();
}

std::string replaceTarget(StringRef text, Target target) {
  auto [before, after] = text.split("{}");
  return (before + (after.empty() ? "" : targetName(target)) + after).str();
}

// The first of `given` that is not in `kept`; empty if there is none.
StringRef findOther(ArrayRef<StringRef> given, ArrayRef<StringRef> kept) {
  const StringRef *other = find_if(given, [&](StringRef option) { return !is_contained(kept, option); });
  return other == given.end() ? StringRef() : *other;
}

} // namespace

Error mlir::ad::runner::checkOptionsTogether(ArrayRef<StringRef> given, const Options &options) {
  auto has = [&](StringRef option) { return is_contained(given, option); };
  for (const Conflict &conflict : conflicts)
    for (StringRef option : conflict.options)
      if (has(conflict.dominant) && has(option))
        return usageError(conflict.reason + ", so that " + option + " would have no effect");
  for (const Need &need : needs)
    if (has(need.option) && none_of(need.others, has))
      return usageError(need.reason);
  if (has("--bench"))
    if (Error error = checkBench(has))
      return error;
  for (const TargetRule &rule : targetRules)
    if (has(rule.option) && !(rule.targets & bit(options.target)))
      return usageError(rule.option + replaceTarget(rule.about, options.target) + rule.advice);
  return Error::success();
}

Error mlir::ad::runner::checkOptionsOfText(ArrayRef<StringRef> given) {
  for (StringRef printer : {"--version", "--env", "--print-precision", "--list-kernels"}) {
    if (!is_contained(given, printer))
      continue;
    // --env prints the folder of the cache and the number of threads.
    StringRef kept[] = {printer, "--cache", "--threads"};
    StringRef other = findOther(given, printer == "--env" ? ArrayRef(kept) : ArrayRef(kept).take_front());
    if (!other.empty())
      return usageError(printer + " prints and ends, so that " +
                        (other == "<input>" ? StringRef("a program") : other) + " would have no effect");
    break;
  }
  return Error::success();
}
