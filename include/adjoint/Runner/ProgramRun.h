// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A program with the inputs of a command line, for tools that run programs to compare them: several times,
// with changed arguments, on each target, and on the reference interpreter with an observer.
#ifndef ADJOINT_RUNNER_PROGRAMRUN_H
#define ADJOINT_RUNNER_PROGRAMRUN_H

#include "adjoint/Runner/Compile/Hooks.h"
#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Runner/IO/RunValues.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runner/Session/Tracer.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::ad::reference {
class Observer;
} // namespace mlir::ad::reference

namespace mlir::ad::runner {

/// What becomes of diagnostics, of warnings and of errors at run time.
enum class Messages {
  Print,  ///< on stderr, with the line of the source; the error of the call then has an empty message
  Collect ///< the error of the call has their text; warnings are dropped
};

/// Reads the text of a program, `-` for standard input.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readProgram(llvm::StringRef path);

/// What a run gave. If it failed, `error` is the text of its error with the line of the source, and there are
/// only the values that were received until then.
struct RunOutcome {
  RunValues values;
  std::string error;
};

class ProgramRun {
public:
  /// Compiles the text for `options.target`. Messages begin with the name of `tool`. `observer`, if there is
  /// one, sees all passes.
  static llvm::Expected<std::unique_ptr<ProgramRun>>
  load(const llvm::MemoryBuffer &text, const Options &options, const Hooks &hooks, llvm::StringRef tool,
       Messages messages = Messages::Print, CompilationObserver *observer = nullptr);
  ~ProgramRun();

  const Signature &getSignature() const;
  /// On target reference: the program that is interpreted. It may be changed, but for its signature. Null on
  /// other targets.
  mlir::ModuleOp getModule() const;
  /// The numerics mode.
  llvm::StringRef getNumerics() const;

  /// Reads the sources of `options`. Must come before run.
  llvm::Error bind();
  /// The same with the sources of other options.
  llvm::Error bind(const Options &sources);
  /// Of `bind`; may be changed.
  llvm::MutableArrayRef<Tensor> getArguments();

  /// Runs the program once, with feeds from their begin. Arguments keep their values, donated ones too. Only
  /// the reference interpreter calls the observer.
  llvm::Expected<RunValues> run(reference::Observer *observer = nullptr);
  /// The same with a tracer, which is also the observer of `load`.
  llvm::Expected<RunValues> run(Tracer &tracer);
  /// The same; a program that fails is no error of the call, and its error is not printed.
  llvm::Expected<RunOutcome> runToEnd(Tracer &tracer);
  /// The same on the reference interpreter with another program of this signature, such as this one after
  /// some passes.
  llvm::Expected<RunValues> interpret(mlir::ModuleOp module, reference::Observer *observer = nullptr);

private:
  struct State;
  explicit ProgramRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_PROGRAMRUN_H
