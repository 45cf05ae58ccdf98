// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts parsed arguments to Options and checks them. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_OPTIONS_OPTIONSREADER_H
#define ADJOINT_LIB_RUNNER_OPTIONS_OPTIONSREADER_H

#include "OptionValues.h"
#include "adjoint/Support/CommandLine.h"

namespace mlir::ad::runner {

enum : unsigned { RunVis = 1 << 1 }; // next to DefaultVis; named in Options.td

inline llvm::opt::Visibility visibilityOf(OptionSet set) {
  return llvm::opt::Visibility(set == OptionSet::Run ? static_cast<unsigned>(RunVis) : llvm::opt::DefaultVis);
}

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

/// The name of the program on the command line, for messages.
inline llvm::StringRef programFile(OptionSet set) { return set == OptionSet::Run ? "FILE.adx" : "FILE.mlir"; }

/// Each function reads one kind of value or checks one rule.
class OptionsReader : CommandLine {
public:
  OptionsReader(const llvm::opt::OptTable &table, const llvm::opt::InputArgList &list, OptionSet set)
      : CommandLine(table, list, visibilityOf(set)), set(set) {}
  llvm::Expected<Options> read();

private:
  using Error = llvm::Error;
  using StringRef = llvm::StringRef;

  // Rules, in OptionsChecks.cpp.
  bool isOptionOf(OptionSet other, StringRef name) const;
  Error checkUnknown() const;
  Error checkEmit(const Options &options) const;
  Error checkOutputs(const Options &options) const;
  Error checkCompiled(const Options &options) const;
  Error checkTogether(const Options &options) const;

  // Values, in Options.cpp.
  Error readInput(Options &options) const;
  Error readTarget(Options &options) const;
  Error readCompilation(Options &options) const;
  Error readSources(Options &options) const;
  Error readRuns(Options &options) const;
  Error readBench(Options &options) const;
  Error readEmulation(adrt::Emulation &emulation) const;
  Error readOutputs(Options &options) const;
  Error readAssignments(OptionId id, std::vector<Assignment> &assignments) const;
  Error readDims(Options &options) const;
  Error readThreads(Options &options) const;
  Error readMemoryLimit(int64_t &bytes) const;
  Error readSeconds(OptionId id, double &value) const;

  OptionSet set;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_OPTIONS_OPTIONSREADER_H
