// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Options of the C API.
#include "Options.h"
#include "Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir::ad;
using llvm::StringRef;
using runner::ProgramOptions;

namespace {

struct TextOption {
  const char *name;
  std::string ProgramOptions::*value;
};

constexpr TextOption textOptions[] = {
    {"entry", &ProgramOptions::entry},       {"target", &ProgramOptions::target},
    {"numerics", &ProgramOptions::numerics}, {"precision", &ProgramOptions::precision},
    {"kernels", &ProgramOptions::kernels},   {"cpu", &ProgramOptions::cpu},
    {"cache", &ProgramOptions::cache},
};

} // namespace

static bool readThreads(StringRef value, ProgramOptions &result) {
  unsigned threads = 0;
  if (value.getAsInteger(10, threads))
    return false;
  result.threads = threads;
  return true;
}

static bool readOptimize(StringRef value, ProgramOptions &result) {
  result.optimize = value == "true";
  return value == "true" || value == "false";
}

static std::string allNames() {
  std::string names;
  for (const TextOption &option : textOptions)
    names += std::string(option.name) + ", ";
  return names + "threads and optimize";
}

AdjointError *capi::readOptions(const AdjointOption *options, size_t count, ProgramOptions &result) {
  auto fail = [](const std::string &message) { return makeError(runner::Failure::Reason::Options, message); };
  for (const AdjointOption &option : llvm::ArrayRef(options, count)) {
    if (!option.name || !option.value)
      return fail("an option has no name or no value");
    StringRef name = option.name, value = option.value;
    const auto *found =
        llvm::find_if(textOptions, [&](const TextOption &known) { return name == known.name; });
    if (found != std::end(textOptions))
      result.*found->value = value.str();
    else if (name != "threads" && name != "optimize")
      return fail("there is no option '" + name.str() + "'; there are " + allNames());
    else if (name == "threads" && !readThreads(value, result))
      return fail("expected a number of threads, found '" + value.str() + "'");
    else if (name == "optimize" && !readOptimize(value, result))
      return fail("expected true or false for optimize, found '" + value.str() + "'");
  }
  return nullptr;
}
