// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks and conversions of values, for the command line and for programs that embed the runner.
#include "OptionValues.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "adjoint/Support/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"

#include <cstdlib>

using namespace llvm;
using namespace mlir::ad::runner;

bool mlir::ad::runner::isTile(llvm::StringRef text) {
  static const llvm::Regex extents("^([1-9][0-9]{0,5}x){1,2}[1-9][0-9]{0,5}$");
  return extents.match(text);
}

Error mlir::ad::runner::checkKernelOptions(const Options &options, Target target) {
  bool onDevice = target == Target::GpuSim || target == Target::Cuda;
  StringRef given = options.timeoutKernel != 0 ? "--timeout-kernel" : options.replay ? "" : "--no-replay";
  if (!given.empty() && !onDevice)
    return usageError(given + " is about kernels on a GPU, target '" + targetName(target) + "' has none");
  const adrt::Emulation &emulation = options.emulation, defaults;
  if (target != Target::GpuSim &&
      (emulation.schedule != defaults.schedule || emulation.detectRaces != defaults.detectRaces ||
       emulation.smCount != defaults.smCount))
    return usageError(
        "--schedule, --sm-count and --no-race-detection are about the emulated GPU, not target '" +
        targetName(target) + "'");
  return Error::success();
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

Expected<unsigned> mlir::ad::runner::defaultThreads() {
  const char *given = secure_getenv(kThreadsVariable);
  unsigned threads = 0;
  // An empty variable counts as not set.
  if (!given || !*given)
    return threads;
  if (StringRef(given).getAsInteger(10, threads) || threads > kMaxThreads)
    return usageError("expected " + Twine(kThreadsVariable) + " with a number from 0 to " +
                      Twine(kMaxThreads) + ", found '" + given + "'");
  return threads;
}

unsigned mlir::ad::runner::resolveThreads(unsigned requested) {
  return requested ? requested : std::min(adrt::countCPUs(), kMaxThreads);
}

Expected<Target> mlir::ad::runner::parseTarget(StringRef name) {
  for (Target target : {Target::Reference, Target::Cpu, Target::GpuSim, Target::Cuda})
    if (name == targetName(target))
      return target;
  return usageError("unknown target '" + name + "', expected reference, cpu, gpu-sim or cuda" +
                    suggestValue(name, {"reference", "cpu", "gpu-sim", "cuda"}));
}

static constexpr StringRef numericsModes[] = {"reproducible", "strict", "fast"};

// Checks one permission after the mode.
static Error checkPermission(StringRef word, const Options &options) {
  static constexpr StringRef permissions[] = {"reorder", "algebra", "contract", "widen",
                                              "mma",     "narrow",  "approx",   "finite"};
  if (is_contained(numericsModes, word))
    return usageError("'" + word + "' is a mode, and so is '" + options.numericsMode +
                      "'; give one mode, then permissions");
  if (!is_contained(permissions, word))
    return usageError("unknown numerics permission '" + word +
                      "', expected reorder, algebra, contract, widen, mma, narrow, approx or finite" +
                      suggestValue(word, permissions));
  if (is_contained(options.numericsPermissions, word))
    return usageError("numerics permission '" + word + "' is given twice");
  if (options.numericsMode == "reproducible")
    return usageError("mode reproducible promises the same bits everywhere and takes no permission, found '" +
                      word + "'; use strict or fast");
  return Error::success();
}

Error mlir::ad::runner::parseNumerics(StringRef text, Options &options) {
  SmallVector<StringRef> words;
  text.split(words, ',');
  if (!is_contained(numericsModes, words.front()))
    return usageError("unknown numerics mode '" + words.front() + "', expected reproducible, strict or fast" +
                      suggestValue(words.front(), numericsModes));
  options.numericsMode = words.front().str();
  for (StringRef word : ArrayRef<StringRef>(words).drop_front()) {
    if (Error error = checkPermission(word, options))
      return error;
    options.numericsPermissions.push_back(word.str());
  }
  return Error::success();
}
