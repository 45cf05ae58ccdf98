// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of ad-runner and adrt-run as a structure, for the tools and for programs that embed the runner.
#ifndef ADJOINT_RUNNER_OPTIONS_OPTIONS_H
#define ADJOINT_RUNNER_OPTIONS_OPTIONS_H

#include "adjoint/Runtime/Sim/SimDevice.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace mlir::ad::runner {

enum class Target { Reference, Cpu, GpuSim, Cuda };
llvm::StringRef targetName(Target target);

/// Whose options: of ad-runner, which compiles, or the fewer ones of adrt-run.
enum class OptionSet { Compiler, Run };
llvm::StringRef toolName(OptionSet set);

/// NAME=VALUE.
struct Assignment {
  std::string name, value;
};

/// NAME.AXIS=N.
struct DimAssignment {
  std::string name;
  int64_t axis = 0, size = 0;
};

struct Options {
  std::string input;
  std::string entry = "main";
  bool entryGiven = false; ///< on the command line
  Target target = Target::Cpu;
  bool targetGiven = false;                     ///< on the command line
  std::string numericsMode;                     ///< empty: the module's own
  std::vector<std::string> numericsPermissions; ///< given by name beside the mode
  std::vector<Assignment> arguments, feeds;
  std::vector<DimAssignment> dims;
  std::string outDir;
  bool print = false;
  unsigned threads = 0; ///< 0: all CPUs that the process may use
  unsigned repeat = 1, warmup = 0;
  std::string bench; ///< where a line about the runs is appended, `-` for standard output; empty: nowhere
  double timeoutKernel = 0; ///< seconds; 0: kernels may take as long as they like
  bool replay = true;       ///< a GPU is asked as one for what it was asked for before
  std::string report, numericsReport, dumpOptimized;
  bool traffic = false; ///< counted and printed
  adrt::Emulation emulation;
  bool checkGradients = false;
  bool optimize = true;
  std::string fuse = "grow";   ///< the policy of ad-fuse
  std::string tiles = "large"; ///< the tile table of ad-emit-cpu
  std::string tile;            ///< the option of ad-emit-gpu
  std::string cpu;             ///< empty: the host
  std::string emit;            ///< where the compiled program goes instead of running
  std::string chip;            ///< whose instructions GPU kernels may use; empty: the target's own choice
  std::string cache;           ///< a folder, `off`, or empty for the default one
  bool showEnv = false, showVersion = false, showHelp = false;
};

/// Whether the program is a file that was compiled ahead of time.
inline bool isCompiled(const Options &options) { return llvm::StringRef(options.input).ends_with(".adx"); }

/// More threads than any machine has CPUs for, and few enough to start.
constexpr unsigned kMaxThreads = 1024;
/// Holds the number of threads for programs that are not told one.
constexpr const char *kThreadsVariable = "ADJOINT_NUM_THREADS";

/// What --threads is where it is not given: $ADJOINT_NUM_THREADS, or else 0. An error names the variable.
llvm::Expected<unsigned> defaultThreads();
/// The number of threads for --threads: 0 asks for one per CPU that this process may use.
unsigned resolveThreads(unsigned asked);
/// An error when kernels are to be watched, emulated in some way or not replayed, on a target that has no
/// such kernels.
llvm::Error checkKernelOptions(const Options &options, Target target);
/// The target of that name, and MODE[,PERMISSION…] into `options`; as on the command line.
llvm::Expected<Target> parseTarget(llvm::StringRef name);
llvm::Error parseNumerics(llvm::StringRef text, Options &options);
/// Parses a command line without the program's name. Errors carry ExitUsage and name the nearest spelling.
llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> arguments,
                                     OptionSet set = OptionSet::Compiler);

void printHelp(llvm::raw_ostream &os, OptionSet set);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_OPTIONS_OPTIONS_H
