// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of ad-runner and adrt-run as a structure, for both tools and for programs that embed the
// runner.
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

/// The options of ad-runner, which compiles, or the subset that adrt-run has.
enum class OptionSet { Compiler, Run };
llvm::StringRef toolName(OptionSet set);

/// NAME=VALUE.
struct Assignment {
  std::string name, value;
  bool isFile = false; ///< The value is the path of a file, whatever form of a source it looks like.
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
  std::vector<std::string> numericsPermissions; ///< given by name after the mode
  std::string precision;                        ///< a policy of ad-autocast; empty: the module's own
  std::string kernels;                          ///< OP=NAME[,…]: implementations of operations
  std::string missingKernels;                   ///< OP:TYPE[,…]: what the target has no kernels for
  std::string pathPrefixMap;                    ///< OLD=NEW: names of files in compiled code
  std::string printPrecision;                   ///< the built-in policy to print; empty: none
  std::vector<Assignment> arguments, feeds;
  std::vector<DimAssignment> dims;
  std::string outDir;
  bool print = false;
  int64_t memoryLimit = 0; ///< bytes of tensors; 0: the memory of the machine
  unsigned threads = 0;    ///< 0: all CPUs that the process may use
  unsigned repeat = 1, warmup = 0;
  std::string bench; ///< the file that the measurement is appended to, `-` for standard output; empty: none
  double timeoutKernel = 0; ///< seconds; 0: no limit
  bool replay = true;       ///< repeated launches are replayed as CUDA graphs
  std::string report, numericsReport, dumpOptimized, dumpPlan;
  std::string trace;        ///< the folder of the trace; empty: none
  std::string traceTensors; ///< names and operations whose tensors the trace keeps, or `all`
  std::string replayFolder; ///< the trace whose run is repeated; empty: none
  std::string listRewrites; ///< the file that the applied rewrites are written to; empty: none
  std::string rewritesOnly, rewritesExcept; ///< files of rewrites, of which one is empty
  bool traffic = false;                     ///< counted and printed
  adrt::Emulation emulation;
  bool checkGradients = false;
  bool optimize = true;
  bool allowNative = false;    ///< code of the LLVM and GPU dialects in the program
  std::string fuse = "grow";   ///< the policy of ad-fuse
  std::string tiles = "large"; ///< the tile table of ad-emit-cpu
  std::string tile;            ///< the option of ad-emit-gpu
  std::string cpu;             ///< empty: the host
  std::string emit;            ///< the file that the compiled program is written to; empty: the program runs
  std::string chip;  ///< the GPU whose instructions kernels may use; empty: the choice of the target
  std::string cache; ///< a folder, `off`, or empty for the default one
  bool showEnv = false, showVersion = false, showHelp = false, listKernels = false;
};

/// Whether the program is a file that was compiled ahead of time.
inline bool isCompiled(const Options &options) { return llvm::StringRef(options.input).ends_with(".adx"); }

/// Whether rewrites are listed or switched off.
inline bool controlsRewrites(const Options &options) {
  return !options.listRewrites.empty() || !options.rewritesOnly.empty() || !options.rewritesExcept.empty();
}

/// Whether the tool prints something about itself and runs no program.
inline bool isAboutTool(const Options &options) {
  return options.showEnv || options.showVersion || options.listKernels || !options.printPrecision.empty();
}

/// The maximum of --threads: no machine has more CPUs.
constexpr unsigned kMaxThreads = 1024;
/// The maximum of --sm-count.
constexpr unsigned kMaxSMCount = 65535;
/// Whether a text has the form of --tile, ROWSxCOLUMNS or GROUPSxROWSxCOLUMNS.
bool isTile(llvm::StringRef text);
/// The environment variable with the number of threads of programs without --threads.
constexpr const char *kThreadsVariable = "ADJOINT_NUM_THREADS";

/// The default of --threads: $ADJOINT_NUM_THREADS, or 0 if it is not set. An error names the variable.
llvm::Expected<unsigned> defaultThreads();
/// The number of threads for the value of --threads: for 0, the number of CPUs that this process may use.
unsigned resolveThreads(unsigned requested);
/// An error when an option about kernels on a GPU or about the emulated GPU is given for a target without
/// them.
llvm::Error checkKernelOptions(const Options &options, Target target);
/// The target of that name.
llvm::Expected<Target> parseTarget(llvm::StringRef name);
/// Parses MODE[,PERMISSION…] into `options`.
llvm::Error parseNumerics(llvm::StringRef text, Options &options);
/// Parses a command line without the name of the tool. Errors carry ExitUsage and suggest the nearest
/// spelling.
llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> arguments,
                                     OptionSet set = OptionSet::Compiler);

void printHelp(llvm::raw_ostream &os, OptionSet set);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_OPTIONS_OPTIONS_H
