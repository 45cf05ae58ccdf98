// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The runner as a library: a program that is compiled once and then called, from any number of threads. This
// header includes neither LLVM nor MLIR, so that bindings to other languages can use it with exceptions and
// RTTI. The library prints nothing and installs no signal handlers.
#ifndef ADJOINT_RUNNER_PROGRAM_H
#define ADJOINT_RUNNER_PROGRAM_H

#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/Host/DeviceHeap.h"

#include <optional>
#include <string_view>

namespace mlir::ad::runner {

struct Hooks;

/// The options of ad-runner that say how a program is compiled and where it runs.
struct ProgramOptions {
  std::string entry = "main";
  std::string target = "cpu";
  std::string numerics;  ///< MODE[,PERMISSION…]; empty: the module's own
  std::string precision; ///< bf16, f16, f8, none or FILE.yaml; empty: the module's own
  std::string kernels;   ///< OP=NAME[,…]: implementations of operations
  std::string cpu;       ///< empty: the host
  std::string cache;     ///< a folder, `off`, or empty for the default one
  /// 0: all CPUs that the process may use; empty: $ADJOINT_NUM_THREADS, or 0.
  std::optional<unsigned> threads;
  bool optimize = true;     ///< false: the program is not simplified
  bool allowNative = false; ///< the program may have code of the LLVM and GPU dialects (docs/security.md)
};

/// A diagnostic of the compiler.
struct Message {
  std::string severity; ///< error, warning, remark or note
  std::string file;     ///< empty when the location is not in a file
  unsigned line = 0, column = 0;
  std::string text;
  std::vector<Message> notes;
};

/// Why a program did not compile or run.
struct Failure {
  /// What was at fault. File: a folder for temporary files or for a trace that cannot be written, although
  /// the options are right.
  enum class Reason { Options, Source, Target, Program, Check, Host, Interrupted, Output, File };
  Reason reason = Reason::Source;
  std::string message;             ///< may be empty when there are diagnostics
  std::string location, operation; ///< of an error at run time, if it has a location in the source
  std::vector<Message> diagnostics;
};

/// Name, element type and shape; -1 is a dynamic size.
struct ProgramValue {
  std::string name;
  adrt_type type = ADRT_F32;
  std::vector<int64_t> shape;
  int donatedTo = -1; ///< of an argument: the result that may take its buffer
};

struct ProgramReceive {
  std::string name;
  std::vector<ProgramValue> values; ///< received together
};

struct ProgramInterface {
  std::string entry;
  std::vector<ProgramValue> arguments, results, feeds;
  std::vector<ProgramReceive> receives;
};

/// The value that a compiled file has for an argument.
struct BoundArgument {
  std::string name;
  adrt_tensor value;
};

/// The callbacks of a run, on the thread of the run. Each may be empty.
struct ProgramHost {
  adrt_context::Feed feed;
  adrt_context::Receive receive;
  std::function<bool()> interrupted;
};

/// A result owns its memory, unless it was written to an output, or has the memory of its donated argument.
struct ProgramResult {
  adrt::Buffer data;
  adrt_type type = ADRT_F32;
  std::vector<int64_t> shape;
  std::shared_ptr<adrt::DeviceBlock> onDevice; ///< the memory of a result that stays on the device
  bool isDonated = false; ///< it has the memory of its donated argument, which was on the device
};

class Program {
public:
  /// Compiles `source`; locations have `name` as their file. Calls `interrupted`, which may be empty, between
  /// its stages, and stops when it returns true. Null, with the reason in `failure`, when the program does
  /// not compile.
  static std::unique_ptr<Program> compile(std::string_view source, std::string_view name,
                                          const ProgramOptions &options, const Hooks &hooks,
                                          const std::function<bool()> &interrupted, Failure &failure);
  /// Loads the bytes of a compiled file, whose name is for messages. It has native code, so that whoever
  /// loads it must trust its author. `threads` is that of ProgramOptions. Null, with the reason in `failure`,
  /// when this is no such file, it is damaged, or this machine cannot run it.
  static std::unique_ptr<Program> load(std::string_view file, std::string_view name,
                                       std::optional<unsigned> threads, Failure &failure);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  const ProgramInterface &getInterface() const;
  const std::string &getNumerics() const; ///< the numerics mode
  const std::string &getCpu() const;      ///< the CPU that the program was compiled for
  const std::string &getCacheUse() const; ///< hit, miss or off; empty for other targets than the CPU
  const std::string &getTarget() const;   ///< where the program runs: cpu, reference, gpu-sim or cuda
  /// Values that the file of a loaded program has for its arguments; they live as long as the program.
  std::vector<BoundArgument> getBound() const;
  /// The use of numerics permissions, and the seconds of each stage and pass of the compilation: an object of
  /// JSON with `uses`, `stages` and `passes`. A program of a compiled file has none.
  std::string getReport() const;
  /// Warnings and remarks of the compilation.
  const std::vector<Message> &getMessages() const;

  /// Runs the program once. Arguments must have the types and sizes of the interface. The run reads their
  /// memory until its end, and may write the memory of donated arguments, which must not overlap any other
  /// argument. False, with the reason in `failure`, when the run fails.
  ///
  /// `outputs` is empty, or has one tensor per result, which the result is written to; a result whose output
  /// has null data gets memory of its own. An output must have the element type of its result, and must not
  /// overlap an argument or another output, except that it may be the argument that is donated to the result.
  /// A run fails at its end when an output has another shape than its result. If that output is the donated
  /// argument, the result gets memory of its own instead.
  ///
  /// Programs for a device take arguments in device memory: of its heap, or any other memory that its kernels
  /// may access. Nothing is copied then. A result whose output is in device memory, which has null data,
  /// stays on the device. Its donated argument may be in host memory, which is not written then.
  bool run(const std::vector<adrt_tensor> &arguments, const ProgramHost &host,
           std::vector<ProgramResult> &results, Failure &failure,
           const std::vector<adrt_tensor> &outputs = {}) const;

  /// The memory of the program's device for tensors that stay there. Null for programs of the host, with an
  /// empty `problem`, and where there is no device.
  std::shared_ptr<adrt::DeviceHeap> getDeviceHeap(std::string &problem) const;

  /// Takes the memory of a result that is no longer used, for later runs: new memory costs a page fault per
  /// page. Keeps one block per result. May be called on any thread, also after the program is destroyed.
  using Recycler = std::function<void(size_t result, adrt::Buffer memory)>;
  Recycler getRecycler() const;

private:
  struct State;
  explicit Program(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_PROGRAM_H
