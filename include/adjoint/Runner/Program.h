// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The runner as a library: a program that is compiled once and then called, from any number of threads. There
// is no LLVM and no MLIR in this header, nothing is printed and no signal is touched, so that bindings to
// other languages, which want exceptions and RTTI, can stand on it.
#ifndef ADJOINT_RUNNER_PROGRAM_H
#define ADJOINT_RUNNER_PROGRAM_H

#include "adjoint/Runtime/Host/Context.h"

#include <optional>
#include <string_view>

namespace mlir::ad::runner {

struct Hooks;

/// The options of ad-runner that say how a program is compiled and where it runs.
struct ProgramOptions {
  std::string entry = "main";
  std::string target = "cpu";
  std::string numerics; ///< MODE[,PERMISSION…]; empty: the module's own
  std::string cpu;      ///< empty: the host
  std::string cache;    ///< a folder, `off`, or empty for the default one
  /// 0: all CPUs that the process may use; empty: $ADJOINT_NUM_THREADS, or 0.
  std::optional<unsigned> threads;
  bool optimize = true; ///< false: the program is not simplified
};

/// What the compiler says about a place in the source.
struct Message {
  std::string severity; ///< error, warning, remark or note
  std::string file;     ///< empty when the place is not in a file
  unsigned line = 0, column = 0;
  std::string text;
  std::vector<Message> notes;
};

/// Why a program did not compile or run.
struct Failure {
  enum class Reason { Options, Source, Target, Program, Check, Host, Interrupted, Output };
  Reason reason = Reason::Source;
  std::string message;             ///< may be empty when there are diagnostics
  std::string location, operation; ///< of an error at run time, where it has a place in the source
  std::vector<Message> diagnostics;
};

/// Name, element type and shape; -1 where the program leaves a size open.
struct ProgramValue {
  std::string name;
  adrt_type type = ADRT_F32;
  std::vector<int64_t> shape;
  int donatedTo = -1; ///< of an argument: the result that may take its buffer
};

struct ProgramReceive {
  std::string name;
  std::vector<ProgramValue> values; ///< handed over together
};

struct ProgramInterface {
  std::string entry;
  std::vector<ProgramValue> arguments, results, feeds;
  std::vector<ProgramReceive> receives;
};

/// What a run may ask of its host, on the thread of the run. All may be empty.
struct ProgramHost {
  adrt_context::Feed feed;
  adrt_context::Receive receive;
  std::function<bool()> interrupted;
};

/// A result owns its memory, unless it was written to an output.
struct ProgramResult {
  adrt::Buffer data;
  adrt_type type = ADRT_F32;
  std::vector<int64_t> shape;
};

class Program {
public:
  /// Compiles `source`; `name` stands for the file in locations. Between its stages it asks whether it is
  /// `interrupted`, unless that is empty. Null and the reason in `failure` when there is no such program.
  static std::unique_ptr<Program> compile(std::string_view source, std::string_view name,
                                          const ProgramOptions &options, const Hooks &hooks,
                                          const std::function<bool()> &interrupted, Failure &failure);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  const ProgramInterface &getInterface() const;
  const std::string &getNumerics() const; ///< the mode that it was compiled in
  const std::string &getCpu() const;      ///< the CPU that it was compiled for
  const std::string &getCacheUse() const; ///< hit, miss or off; empty for other targets than the CPU
  /// Warnings and remarks of the compilation.
  const std::vector<Message> &getMessages() const;

  /// Runs the program once. Arguments must have the types and sizes of the interface; their memory is read
  /// until the end of the run, and that of donated ones, which overlaps no other, may be written. False and
  /// the reason in `failure` when it did not reach its end.
  ///
  /// `outputs` is empty or has one tensor per result, into which the result is written; where its data is
  /// null the result gets memory of its own. An output has the element type of its result and overlaps no
  /// argument and no other output, but it may be the argument that is donated to the result. A run fails at
  /// its end when an output has another shape than its result, unless it is such an argument: then the result
  /// has memory of its own.
  bool run(const std::vector<adrt_tensor> &arguments, const ProgramHost &host,
           std::vector<ProgramResult> &results, Failure &failure,
           const std::vector<adrt_tensor> &outputs = {}) const;

  /// Takes the memory of a result that nobody needs any more, for later runs: fresh memory costs a page fault
  /// per page. Keeps one block per result. May be called on any thread, also when the program is gone.
  using Recycler = std::function<void(size_t result, adrt::Buffer memory)>;
  Recycler getRecycler() const;

private:
  struct State;
  explicit Program(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_PROGRAM_H
