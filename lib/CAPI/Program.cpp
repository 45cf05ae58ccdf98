// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiled programs of the C API.
#include "Program.h"
#include "Error.h"
#include "Options.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Support/Buffer.h"

using namespace mlir::ad;
using runner::Failure;
using runner::Program;
using runner::ProgramHost;
using runner::ProgramResult;
using runner::ProgramValue;

struct AdjointProgram {
  std::unique_ptr<Program> program;
};

struct AdjointResults {
  std::vector<ProgramResult> results;
  std::vector<adrt_tensor> views;
};

const char *adjointGetVersion(void) { return ADJOINT_VERSION; }

static AdjointError *finish(std::unique_ptr<Program> made, Failure failure, AdjointProgram **program) {
  if (!made)
    return capi::makeError(std::move(failure));
  *program = new AdjointProgram{std::move(made)};
  return nullptr;
}

AdjointError *capi::compileProgram(std::string_view source, std::string_view name,
                                   const AdjointOption *options, size_t count, AdjointProgram **program) {
  if (!program || (count && !options))
    return makeMissing(program ? "list of options" : "place for the program");
  runner::ProgramOptions given;
  if (AdjointError *error = readOptions(options, count, given))
    return error;
  Failure failure;
  auto made = Program::compile(source, name, given, runner::standardHooks(), {}, failure);
  return finish(std::move(made), std::move(failure), program);
}

AdjointError *adjointProgramCompile(const char *source, size_t size, const char *name,
                                    const AdjointOption *options, size_t numOptions,
                                    AdjointProgram **program) {
  if (!source || !name)
    return capi::makeMissing(source ? "name" : "source");
  return capi::compileProgram({source, size}, name, options, numOptions, program);
}

AdjointError *adjointProgramLoad(const void *file, size_t size, const char *name,
                                 const AdjointOption *options, size_t numOptions, AdjointProgram **program) {
  if (!file || !name)
    return capi::makeMissing(file ? "name" : "file");
  if (!program || (numOptions && !options))
    return capi::makeMissing(program ? "list of options" : "place for the program");
  runner::ProgramOptions given;
  if (AdjointError *error = capi::readOptions(options, numOptions, given))
    return error;
  Failure failure;
  auto made = Program::load({static_cast<const char *>(file), size}, name, given.threads, failure);
  return finish(std::move(made), std::move(failure), program);
}

void adjointProgramDestroy(AdjointProgram *program) { delete program; }

static AdjointValue describe(const ProgramValue &value) {
  return {value.name.c_str(), value.type, static_cast<int32_t>(value.shape.size()), value.shape.data(),
          value.donatedTo};
}

static const runner::ProgramInterface &interfaceOf(const AdjointProgram *program) {
  return program->program->getInterface();
}

size_t adjointProgramGetNumArguments(const AdjointProgram *program) {
  return interfaceOf(program).arguments.size();
}

AdjointValue adjointProgramGetArgument(const AdjointProgram *program, size_t index) {
  return describe(interfaceOf(program).arguments[index]);
}

size_t adjointProgramGetNumResults(const AdjointProgram *program) {
  return interfaceOf(program).results.size();
}

AdjointValue adjointProgramGetResult(const AdjointProgram *program, size_t index) {
  return describe(interfaceOf(program).results[index]);
}

static int32_t statusOf(const char *problem, std::string &error) {
  if (problem)
    error = problem;
  return problem ? ADRT_HOST_ERROR : ADRT_OK;
}

/// The callbacks outlive the run.
static ProgramHost callbacksOf(const AdjointHost *host) {
  ProgramHost result;
  // A null feed is no feed at all: the run says which one the program asks for.
  result.feed = [host](const char *name, const adrt_tensor &destination, std::string &error) {
    if (!host || !host->feed)
      return statusOf("it has no source", error);
    return statusOf(host->feed(host->user, name, &destination), error);
  };
  if (host && host->receive)
    result.receive = [host](const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
      return statusOf(host->receive(host->user, name, values, static_cast<size_t>(count)), error);
    };
  if (host && host->isInterrupted)
    result.interrupted = [host] { return host->isInterrupted(host->user); };
  return result;
}

static std::string sizesOf(const int64_t *sizes, size_t rank) {
  std::string text = "[";
  for (size_t axis = 0; axis < rank; ++axis)
    text += (axis ? ", " : "") + (sizes[axis] < 0 ? std::string("?") : std::to_string(sizes[axis]));
  return text + "]";
}

/// Why a tensor is no value of the program; empty if it may be one.
static std::string problemOf(const adrt_tensor &tensor, const ProgramValue &value, bool mayLackData) {
  if (tensor.type != value.type)
    return std::string("has elements of ") + adrt::typeName(tensor.type) + ", expected " +
           adrt::typeName(value.type);
  if (tensor.memory != ADRT_HOST_MEMORY)
    return "is not in host memory";
  size_t rank = value.shape.size();
  if (tensor.rank != static_cast<int32_t>(rank))
    return "has rank " + std::to_string(tensor.rank) + ", expected " + std::to_string(rank);
  if (rank && !tensor.shape)
    return "has no shape";
  bool isEmpty = false;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (tensor.shape[axis] < 0)
      return "has a negative size";
    if (value.shape[axis] >= 0 && tensor.shape[axis] != value.shape[axis])
      return "has the shape " + sizesOf(tensor.shape, rank) + ", expected " +
             sizesOf(value.shape.data(), rank);
    isEmpty |= tensor.shape[axis] == 0;
  }
  return isEmpty || tensor.data || mayLackData ? "" : "has no data";
}

/// Null if there is a tensor for each value, which it may have.
static AdjointError *checkTensors(const adrt_tensor *tensors, size_t count, const char *kind,
                                  const std::vector<ProgramValue> &values, bool mayLackData) {
  auto fail = [](const std::string &message) { return capi::makeError(Failure::Reason::Options, message); };
  if (count && !tensors)
    return capi::makeMissing(kind);
  if (count != values.size())
    return fail("expected " + std::to_string(values.size()) + " " + kind + "s, found " +
                std::to_string(count));
  for (size_t index = 0; index < count; ++index)
    if (std::string problem = problemOf(tensors[index], values[index], mayLackData); !problem.empty())
      return fail(std::string(kind) + " '" + values[index].name + "' " + problem);
  return nullptr;
}

static std::vector<adrt_tensor> viewsOf(const std::vector<ProgramResult> &results,
                                        const std::vector<adrt_tensor> &outputs) {
  std::vector<adrt_tensor> views;
  for (size_t index = 0; index < results.size(); ++index) {
    const ProgramResult &result = results[index];
    // A result that was written to its output has no memory of its own.
    void *data = result.data.data() || outputs.empty() ? result.data.data() : outputs[index].data;
    views.push_back({data, result.shape.data(), static_cast<int32_t>(result.shape.size()), result.type,
                     ADRT_HOST_MEMORY});
  }
  return views;
}

AdjointError *adjointProgramCall(const AdjointProgram *program, const adrt_tensor *arguments,
                                 size_t numArguments, const adrt_tensor *outputs, size_t numOutputs,
                                 const AdjointHost *host, AdjointResults **results) {
  if (!program || !results)
    return capi::makeMissing(program ? "place for the results" : "program");
  const runner::ProgramInterface &interface = interfaceOf(program);
  if (AdjointError *error = checkTensors(arguments, numArguments, "argument", interface.arguments, false))
    return error;
  if (outputs)
    if (AdjointError *error = checkTensors(outputs, numOutputs, "output", interface.results, true))
      return error;
  std::vector<adrt_tensor> given(arguments, arguments + numArguments), written;
  if (outputs)
    written.assign(outputs, outputs + numOutputs);
  auto made = std::make_unique<AdjointResults>();
  Failure failure;
  if (!program->program->run(given, callbacksOf(host), made->results, failure, written))
    return capi::makeError(std::move(failure));
  made->views = viewsOf(made->results, written);
  *results = made.release();
  return nullptr;
}

size_t adjointResultsGetNum(const AdjointResults *results) { return results->views.size(); }

adrt_tensor adjointResultsGet(const AdjointResults *results, size_t index) { return results->views[index]; }

void adjointResultsDestroy(AdjointResults *results) { delete results; }
