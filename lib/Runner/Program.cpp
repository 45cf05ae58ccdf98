// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs for embedders.
#include "AOT/Adx.h"
#include "Compile/Frontend.h"
#include "ProgramSupport.h"
#include "Session/ContextPool.h"
#include "adjoint/Runner/DeviceHeaps.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/JSONText.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

std::string describeShape(const int64_t *shape, size_t rank) {
  std::string text;
  for (size_t axis = 0; axis < rank; ++axis)
    text += (axis ? "x" : "") + std::to_string(shape[axis]);
  return rank == 0 ? "no axes" : "shape " + text;
}

/// Why the caller cannot get a result: its output has another shape, or there is not enough memory.
Failure makeOutputFailure(const std::string &result, const adrt_tensor &view, const adrt_tensor *output) {
  bool fits =
      output && std::equal(view.shape, view.shape + view.rank, output->shape, output->shape + output->rank);
  if (!output || fits)
    return {Failure::Reason::Host, "not enough memory for a result", "", "", {}};
  std::string message = "result '" + result + "' has " + describeShape(view.shape, view.rank) +
                        ", but its output has " + describeShape(output->shape, output->rank);
  return {Failure::Reason::Output, std::move(message), "", "", {}};
}

/// Memory of results that is no longer used, one block for each result.
class ReturnedMemory {
public:
  void give(size_t index, adrt::Buffer memory) {
    std::lock_guard<std::mutex> lock(mutex);
    if (idle.size() <= index)
      idle.resize(index + 1);
    std::swap(idle[index], memory); // the old block is freed after the lock is released
  }
  adrt::Buffer take(size_t index) {
    std::lock_guard<std::mutex> lock(mutex);
    return index < idle.size() ? std::exchange(idle[index], adrt::Buffer()) : adrt::Buffer();
  }

private:
  std::mutex mutex;
  std::vector<adrt::Buffer> idle;
};

bool hasShape(const adrt_tensor &tensor, const std::vector<int64_t> &shape) {
  return std::equal(tensor.shape, tensor.shape + tensor.rank, shape.begin(), shape.end());
}

/// Takes the result of a run that stays on the device. `uploaded` has the memory of arguments that the run
/// moved there.
ProgramResult takeDeviceResult(adrt_context &context, size_t index, const adrt_tensor &view,
                               const std::vector<std::shared_ptr<adrt::DeviceBlock>> &uploaded) {
  ProgramResult result;
  result.type = static_cast<adrt_type>(view.type);
  result.shape.assign(view.shape, view.shape + view.rank);
  result.onDevice = context.takeDeviceResult(static_cast<int32_t>(index));
  for (const std::shared_ptr<adrt::DeviceBlock> &block : uploaded)
    if (!result.onDevice && block->getData() == view.data)
      result.onDevice = block;
  result.isDonated = !result.onDevice;
  return result;
}

/// Moves or copies a result to its output, or to `result`. The program may have written it to memory of the
/// context, to the output, or to the donated argument, which belongs to the caller.
bool takeResult(adrt_context &context, size_t index, const adrt_tensor &view, const adrt_tensor *output,
                ProgramResult &result) {
  result = {context.results.take(index), static_cast<adrt_type>(view.type),
            std::vector<int64_t>(view.shape, view.shape + view.rank)};
  int64_t bytes = adrt::byteSize(view.type, view.rank, view.shape);
  if (output && output->data && hasShape(*output, result.shape)) {
    if (output->data != view.data)
      std::memcpy(output->data, view.data, static_cast<size_t>(bytes));
    context.results.offer(index, std::exchange(result.data, adrt::Buffer()));
    return true;
  }
  if (result.data.data() == view.data)
    return true;
  if (!result.data.reserve(bytes))
    return false;
  std::memcpy(result.data.data(), view.data, static_cast<size_t>(bytes));
  return true;
}

} // namespace

struct Program::State {
  LoadedProgram loaded;
  ProgramInterface interface;
  Report report;
  std::vector<Message> messages;
  std::vector<Weight> weights; ///< of a compiled file
  mutable ContextPool contexts;
  std::shared_ptr<ReturnedMemory> memory = std::make_shared<ReturnedMemory>();
  mutable std::mutex heapMutex;
  mutable std::shared_ptr<adrt::DeviceHeap> heap; ///< since results first stayed on the device
  mutable uint64_t heapUser = 0;

  ~State() {
    if (heap)
      heap->removeUser(heapUser);
  }
  /// As Program::getDeviceHeap.
  std::shared_ptr<adrt::DeviceHeap> getHeap(std::string &problem) const {
    std::lock_guard<std::mutex> lock(heapMutex);
    problem.clear();
    if (!heap && (heap = mlir::ad::runner::getDeviceHeap(report.target, problem)))
      heapUser = heap->addUser();
    return heap;
  }
  bool prepareDevice(adrt_context &context, std::vector<adrt_tensor> &arguments,
                     const std::vector<adrt_tensor> &outputs,
                     std::vector<std::shared_ptr<adrt::DeviceBlock>> &uploaded, Failure &failure) const;
  std::shared_ptr<adrt::DeviceBlock> upload(adrt_context &context, const adrt_tensor &argument, int result,
                                            Failure &failure) const;

  State(LoadedProgram loaded, Report report, std::vector<Message> messages, unsigned threads)
      : loaded(std::move(loaded)), interface(describe(this->loaded.signature)), report(std::move(report)),
        messages(std::move(messages)), contexts(threads) {}
};

Program::Program(std::unique_ptr<State> state) : state(std::move(state)) {}
Program::~Program() = default;

std::unique_ptr<Program> Program::compile(std::string_view source, std::string_view name,
                                          const ProgramOptions &given, const Hooks &hooks,
                                          const std::function<bool()> &interrupted, Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  MessageRecorder recorder;
  Expected<Options> options = makeRunnerOptions(given);
  if (!options) {
    failure = makeFailure(options.takeError(), {});
    return nullptr;
  }
  Report report;
  std::unique_ptr<llvm::MemoryBuffer> input = llvm::MemoryBuffer::getMemBufferCopy(source, name);
  const std::function<bool()> isInterrupted = interrupted ? interrupted : [] { return false; };
  Expected<LoadedProgram> loaded = Frontend(*options, hooks, report, recorder, isInterrupted).load(*input);
  if (!loaded) {
    failure = makeFailure(loaded.takeError(), std::move(recorder.messages));
    return nullptr;
  }
  loaded->diagnostics.reset(); // it refers to the recorder
  // Runs use no passes, but they make attributes on several threads. The new pool has not started threads
  // yet, so that a process that forks loses none.
  if (loaded->context)
    loaded->renewThreads();
  report.target = targetName(options->target);
  auto state = std::make_unique<State>(std::move(*loaded), std::move(report), std::move(recorder.messages),
                                       resolveThreads(options->threads));
  return std::unique_ptr<Program>(new Program(std::move(state)));
}

std::unique_ptr<Program> Program::load(std::string_view file, std::string_view name,
                                       std::optional<unsigned> threads, Failure &failure) {
  ProgramOptions given;
  given.threads = threads;
  Expected<Options> options = makeRunnerOptions(given);
  if (!options) {
    failure = makeFailure(options.takeError(), {});
    return nullptr;
  }
  Expected<AdxProgram> adx = readAdx(file);
  Error problem = adx ? checkDevice(adx->program) : adx.takeError();
  Expected<std::unique_ptr<Executable>> executable =
      problem ? Expected<std::unique_ptr<Executable>>(std::move(problem)) : loadAdx(adx->program);
  if (!executable) {
    auto [code, message] = consumeExitError(executable.takeError());
    failure = makeFailure(exitError(code, "'" + std::string(name) + "': " + message), {});
    return nullptr;
  }
  Report report;
  report.target = targetOf(adx->program);
  report.numerics = adx->program.numerics;
  report.cpu = adx->host.machine;
  LoadedProgram loaded;
  loaded.signature = std::move(adx->program.signature);
  loaded.executable = std::move(*executable);
  auto state = std::make_unique<State>(std::move(loaded), std::move(report), std::vector<Message>(),
                                       resolveThreads(options->threads));
  state->weights = std::move(adx->weights);
  return std::unique_ptr<Program>(new Program(std::move(state)));
}

const ProgramInterface &Program::getInterface() const { return state->interface; }
const std::string &Program::getNumerics() const { return state->report.numerics; }
const std::string &Program::getCpu() const { return state->report.cpu; }
const std::string &Program::getCacheUse() const { return state->report.cache; }
const std::string &Program::getTarget() const { return state->report.target; }

std::vector<BoundArgument> Program::getBound() const {
  std::vector<BoundArgument> bound;
  for (const Weight &weight : state->weights)
    bound.push_back({weight.name, weight.value.view()});
  return bound;
}

static llvm::json::Object secondsOf(const StageTimes &times) {
  llvm::json::Object seconds;
  for (const StageTimes::Stage &stage : times.getStages())
    seconds[stage.name] = stage.seconds;
  return seconds;
}

std::string Program::getReport() const {
  return jsonLine(llvm::json::Object{{"uses", state->loaded.numericsReport},
                                     {"stages", secondsOf(state->report.stages)},
                                     {"passes", secondsOf(state->report.passes)}});
}

const std::vector<Message> &Program::getMessages() const { return state->messages; }

Program::Recycler Program::getRecycler() const {
  return [memory = std::weak_ptr<ReturnedMemory>(state->memory)](size_t result, adrt::Buffer data) {
    if (std::shared_ptr<ReturnedMemory> alive = memory.lock())
      alive->give(result, std::move(data));
  };
}

std::shared_ptr<adrt::DeviceHeap> Program::getDeviceHeap(std::string &problem) const {
  return state->getHeap(problem);
}

static bool isOnDevice(const adrt_tensor &tensor) { return tensor.memory == ADRT_DEVICE_MEMORY; }

/// The argument in device memory, which becomes that of its result.
std::shared_ptr<adrt::DeviceBlock> Program::State::upload(adrt_context &context, const adrt_tensor &argument,
                                                          int result, Failure &failure) const {
  adrt::Outcome outcome;
  int64_t bytes = adrt::byteSize(argument.type, argument.rank, argument.shape);
  auto block = context.heap->allocate(bytes, "an argument", outcome, {context.heapUser, result});
  if (block)
    outcome = context.heap->write(*block, argument.data, bytes);
  if (outcome.ok())
    return block;
  failure = {Failure::Reason::Host, outcome.message, "", "", {}};
  return nullptr;
}

/// For a run with tensors in device memory: gives the context the heap, and moves donated arguments there
/// whose results stay.
bool Program::State::prepareDevice(adrt_context &context, std::vector<adrt_tensor> &arguments,
                                   const std::vector<adrt_tensor> &outputs,
                                   std::vector<std::shared_ptr<adrt::DeviceBlock>> &uploaded,
                                   Failure &failure) const {
  std::string problem;
  context.heap = getHeap(problem);
  context.heapUser = heapUser;
  if (!context.heap) {
    failure = {Failure::Reason::Target,
               problem.empty() ? "target '" + report.target + "' has no device memory" : problem,
               "",
               "",
               {}};
    return false;
  }
  for (auto [argument, spec] : llvm::zip_equal(arguments, interface.arguments)) {
    bool stays = spec.donatedTo >= 0 && !outputs.empty() && isOnDevice(outputs[spec.donatedTo]);
    if (!stays || isOnDevice(argument))
      continue;
    uploaded.push_back(upload(context, argument, spec.donatedTo, failure));
    if (!uploaded.back())
      return false;
    argument.data = uploaded.back()->getData();
    argument.memory = ADRT_DEVICE_MEMORY;
  }
  return true;
}

static bool isArgument(const adrt_tensor &output, const std::vector<adrt_tensor> &arguments) {
  return llvm::any_of(arguments, [&](const adrt_tensor &argument) { return argument.data == output.data; });
}

/// Gives the outputs and unused memory to the context. An output that is an argument is written at the end of
/// the run, since the program reads it.
static void lendMemory(adrt_context &context, ReturnedMemory &memory, size_t results,
                       const std::vector<adrt_tensor> &arguments, const std::vector<adrt_tensor> &outputs) {
  context.results.outputs = outputs;
  for (adrt_tensor &output : context.results.outputs)
    if (isArgument(output, arguments))
      output.data = nullptr;
  for (size_t index = 0; index < results; ++index)
    if (context.results.outputs.empty() || !context.results.outputs[index].data)
      context.results.offer(index, memory.take(index));
}

/// Takes all results of a run that succeeded. False, with the reason in `failure`, when the caller cannot get
/// one of them.
static bool takeResults(adrt_context &context, const std::vector<adrt_tensor> &views,
                        const std::vector<adrt_tensor> &arguments, const std::vector<adrt_tensor> &outputs,
                        const std::vector<std::shared_ptr<adrt::DeviceBlock>> &uploaded,
                        const std::vector<ProgramValue> &specs, std::vector<ProgramResult> &results,
                        Failure &failure) {
  bool done = true;
  for (size_t index = 0; index < views.size(); ++index) {
    if (isOnDevice(views[index])) {
      results[index] = takeDeviceResult(context, index, views[index], uploaded);
      continue;
    }
    const adrt_tensor *output = outputs.empty() || !outputs[index].data ? nullptr : &outputs[index];
    bool taken = takeResult(context, index, views[index], output, results[index]);
    // A result with another size than its donated argument has memory of its own.
    if (taken && (!output || !results[index].data.data() || isArgument(*output, arguments)))
      continue;
    if (done)
      failure = makeOutputFailure(specs[index].name, views[index], output);
    done = false;
  }
  return done;
}

bool Program::run(const std::vector<adrt_tensor> &given, const ProgramHost &host,
                  std::vector<ProgramResult> &results, Failure &failure,
                  const std::vector<adrt_tensor> &outputs) const {
  std::vector<Message> diagnostics;
  std::optional<DiagnosticCollector> collector;
  if (state->loaded.context)
    collector.emplace(state->loaded.context.get(), diagnostics, /*onlyThisThread=*/true);
  std::unique_ptr<adrt_context> context = state->contexts.take();
  context->feed = host.feed;
  context->receive = host.receive;
  context->interrupted = host.interrupted;
  std::vector<adrt_tensor> moved;
  std::vector<std::shared_ptr<adrt::DeviceBlock>> uploaded;
  results.clear();
  bool done = true;
  if (llvm::any_of(given, isOnDevice) || llvm::any_of(outputs, isOnDevice)) {
    moved = given;
    done = state->prepareDevice(*context, moved, outputs, uploaded, failure);
  }
  const std::vector<adrt_tensor> &arguments = moved.empty() ? given : moved;
  if (done) {
    std::vector<adrt_tensor> views(state->interface.results.size());
    lendMemory(*context, *state->memory, views.size(), arguments, outputs);
    int32_t status = state->loaded.executable->run(*context, arguments, views);
    done = status == ADRT_OK;
    if (!done)
      failure = makeFailure(status, context->getError(), std::move(diagnostics));
    results.resize(done ? views.size() : 0);
    done = done && takeResults(*context, views, arguments, outputs, uploaded, state->interface.results,
                               results, failure);
  }
  state->contexts.giveBack(std::move(context));
  return done;
}
