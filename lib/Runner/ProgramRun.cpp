// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads and runs a program for a tool.
#include "adjoint/Runner/ProgramRun.h"
#include "Compile/Frontend.h"
#include "DiagnosticCollector.h"
#include "IO/InputFile.h"
#include "Session/ConsoleListener.h"
#include "adjoint/Runtime/Host/ThreadPool.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/ParseModule.h"
#include "adjoint/Support/TraceName.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// Keeps diagnostics, and drops warnings.
class CollectingListener final : public Listener {
public:
  void warn(const llvm::Twine &) override {}
  std::shared_ptr<void> watch(llvm::SourceMgr &, mlir::MLIRContext *context) override {
    return std::make_shared<DiagnosticCollector>(context, messages);
  }
  /// The text of all errors since the last call.
  std::string takeErrors() {
    std::string text;
    for (const Message &message : std::exchange(messages, {}))
      if (message.severity == "error")
        text += (text.empty() ? "" : "\n") + locationText(message) + message.text;
    return text;
  }

private:
  static std::string locationText(const Message &message) {
    if (message.file.empty())
      return "";
    return message.file + ":" + std::to_string(message.line) + ":" + std::to_string(message.column) + ": ";
  }
  std::vector<Message> messages;
};

std::string textOf(const adrt::ErrorRecord &error) {
  std::string text = error.location.empty() ? "" : error.location + ": ";
  text += error.operation.empty() ? "" : "'" + error.operation + "' op ";
  return text + error.message;
}

} // namespace

struct ProgramRun::State {
  State(const llvm::MemoryBuffer &text, Options options, const Hooks &hooks, StringRef tool,
        Messages messages)
      : hooks(hooks),
        text(llvm::MemoryBuffer::getMemBufferCopy(text.getBuffer(), text.getBufferIdentifier())),
        options(std::move(options)), messages(messages), tool(tool), console(tool), printing(console) {}

  Error load(CompilationObserver *observer);
  Expected<std::vector<Tensor>> copyDonated() const;
  Error receive(const char *name, llvm::ArrayRef<adrt_tensor> values);
  Expected<RunValues> run(Executable &executable);
  /// The error with the diagnostics that were collected.
  Error explain(Error error);
  Error explain(int32_t status);
  Listener &listener() {
    return messages == Messages::Print ? static_cast<Listener &>(printing) : collecting;
  }

  const Hooks &hooks;
  std::unique_ptr<llvm::MemoryBuffer> text;
  Options options;
  Messages messages;
  std::string tool;
  Console console;
  Console *errors = &console; ///< where errors of a run are printed
  ConsoleListener printing;
  CollectingListener collecting; // declared before the program, whose handler refers to it
  Report report;
  LoadedProgram program;
  std::optional<Bindings> bindings;
  adrt_context context;
  Tracer *tracer = nullptr;
  RunValues values; // of the current run
};

Error ProgramRun::State::explain(Error error) {
  auto [code, message] = consumeExitError(std::move(error));
  if (messages == Messages::Print)
    return exitError(code, message);
  std::string diagnostics = collecting.takeErrors();
  return exitError(code, diagnostics.empty() ? message
                         : message.empty()   ? diagnostics
                                             : message + "\n" + diagnostics);
}

Error ProgramRun::State::explain(int32_t status) {
  if (messages == Messages::Print)
    return exitError(static_cast<ExitCode>(errors->fail(status, context.getError(), *text)), "");
  ExitCode code = status == ADRT_CHECK_FAILED ? ExitCheckFailed : ExitProgramError;
  return explain(exitError(code, textOf(context.getError())));
}

Error ProgramRun::State::load(CompilationObserver *observer) {
  const std::function<bool()> never = [] { return false; };
  Frontend frontend(options, hooks, report, listener(), never);
  frontend.setObserver(observer);
  Expected<LoadedProgram> loaded = frontend.load(*text);
  console.clearProgress();
  if (!loaded)
    return explain(loaded.takeError());
  program = std::move(*loaded);
  context.setThreads(resolveThreads(options.threads));
  adrt::ThreadPool::get().reserve(context.getThreads());
  context.feedsAhead = true; // sources do not depend on received values
  context.feed = [this](const char *name, const adrt_tensor &destination, std::string &error) {
    adrt::FloatingPointScope floatingPoint;
    int32_t status = bindings->feed(name, destination, error);
    return tracer && status == ADRT_OK ? tracer->fed(name, destination, error) : status;
  };
  context.receive = [this](const char *name, const adrt_tensor *received, int32_t count,
                           std::string &error) -> int32_t {
    adrt::FloatingPointScope floatingPoint;
    llvm::ArrayRef<adrt_tensor> views(received, static_cast<size_t>(count));
    if (int32_t status = tracer ? tracer->received(name, views, error) : ADRT_OK)
      return status;
    if (name == kTraceName)
      return ADRT_OK;
    error = consumeExitError(receive(name, views)).second;
    return error.empty() ? ADRT_OK : ADRT_HOST_ERROR;
  };
  return Error::success();
}

Error ProgramRun::State::receive(const char *name, llvm::ArrayRef<adrt_tensor> received) {
  for (auto [index, view] : llvm::enumerate(received)) {
    Expected<Tensor> copy = Tensor::copyOf(view);
    if (!copy)
      return copy.takeError();
    std::string full = received.size() == 1 ? name : name + ("." + std::to_string(index));
    values.received.push_back({std::move(full), std::move(*copy)});
  }
  return Error::success();
}

// The program may overwrite the memory of donated arguments.
Expected<std::vector<Tensor>> ProgramRun::State::copyDonated() const {
  std::vector<Tensor> copies(bindings->arguments.size());
  for (auto [copy, argument, spec] : llvm::zip(copies, bindings->arguments, program.signature.arguments)) {
    if (!spec.donated)
      continue;
    Expected<Tensor> cloned = argument.clone();
    if (!cloned)
      return cloned.takeError();
    copy = std::move(*cloned);
  }
  return std::move(copies);
}

Expected<RunValues> ProgramRun::State::run(Executable &executable) {
  Expected<std::vector<Tensor>> copies = copyDonated();
  if (!copies)
    return copies.takeError();
  std::vector<adrt_tensor> arguments, results(program.signature.results.size());
  for (auto [copy, argument, spec] : llvm::zip(*copies, bindings->arguments, program.signature.arguments))
    arguments.push_back(spec.donated ? copy.view() : argument.view());
  bindings->rewindFeeds();
  values = {};
  int32_t status = executable.run(context, arguments, results);
  Error traced = tracer ? tracer->finish(status, context.getError(), results, report) : Error::success();
  if (status != ADRT_OK) {
    llvm::consumeError(std::move(traced));
    return explain(status);
  }
  if (traced)
    return explain(std::move(traced));
  for (auto [spec, view] : llvm::zip(program.signature.results, results)) {
    Expected<Tensor> copy = Tensor::copyOf(view);
    if (!copy)
      return copy.takeError();
    values.results.push_back({spec.name, std::move(*copy)});
  }
  return std::move(values);
}

ProgramRun::ProgramRun(std::unique_ptr<State> state) : state(std::move(state)) {}
ProgramRun::~ProgramRun() = default;

Expected<std::unique_ptr<ProgramRun>> ProgramRun::load(const llvm::MemoryBuffer &text, const Options &options,
                                                       const Hooks &hooks, StringRef tool, Messages messages,
                                                       CompilationObserver *observer) {
  auto state = std::make_unique<State>(text, options, hooks, tool, messages);
  if (Error error = state->load(observer))
    return std::move(error);
  return std::unique_ptr<ProgramRun>(new ProgramRun(std::move(state)));
}

const Signature &ProgramRun::getSignature() const { return state->program.signature; }
mlir::ModuleOp ProgramRun::getModule() const { return state->program.module.get(); }
StringRef ProgramRun::getNumerics() const { return state->report.numerics; }

Error ProgramRun::bind() { return bind(state->options); }

Error ProgramRun::bind(const Options &sources) {
  Expected<Bindings> bindings = bindSources(state->program.signature, sources);
  if (!bindings)
    return bindings.takeError();
  state->bindings = std::move(*bindings);
  return Error::success();
}

llvm::MutableArrayRef<Tensor> ProgramRun::getArguments() { return state->bindings->arguments; }

Expected<RunValues> ProgramRun::run(reference::Observer *observer) {
  state->program.executable->setObserver(observer);
  Expected<RunValues> values = state->run(*state->program.executable);
  state->program.executable->setObserver(nullptr);
  return values;
}

Expected<RunValues> ProgramRun::run(Tracer &tracer) {
  Executable &executable = *state->program.executable;
  if (Error error = tracer.start(getSignature(), *state->bindings, executable, {}))
    return std::move(error);
  state->tracer = &tracer;
  Expected<RunValues> values = state->run(executable);
  state->tracer = nullptr;
  executable.setObserver(nullptr);
  return values;
}

Expected<RunOutcome> ProgramRun::runToEnd(Tracer &tracer) {
  RunOutcome outcome;
  llvm::raw_string_ostream stream(outcome.error);
  Console console(state->tool, stream);
  // The reference interpreter emits its errors as diagnostics.
  llvm::SourceMgr sources(mlir::ad::noFiles());
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(*state->text), llvm::SMLoc());
  std::optional<mlir::SourceMgrDiagnosticHandler> handler;
  if (mlir::MLIRContext *context = state->program.context.get())
    handler.emplace(sources, context, stream);
  state->errors = &console;
  Expected<RunValues> values = run(tracer);
  state->errors = &state->console;
  if (values) {
    outcome.values = std::move(*values);
    return std::move(outcome);
  }
  auto [code, message] = consumeExitError(values.takeError());
  if (!message.empty()) // of the observation, not of the program
    return exitError(code, message);
  outcome.values = std::move(state->values);
  return std::move(outcome);
}

Expected<RunValues> ProgramRun::interpret(ModuleOp module, reference::Observer *observer) {
  std::unique_ptr<Executable> executable = state->hooks.makeReference(module, getSignature().entry);
  executable->setObserver(observer);
  return state->run(*executable);
}

Expected<std::unique_ptr<llvm::MemoryBuffer>> mlir::ad::runner::readProgram(StringRef path) {
  return readInput(path, [](StringRef) -> Expected<uint64_t> { return 0; });
}
