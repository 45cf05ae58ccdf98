// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts options, failures and signatures to those of embedders.
#include "ProgramSupport.h"
#include "adjoint/Support/Error.h"

#include <utility>

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

Expected<Options> mlir::ad::runner::makeRunnerOptions(const ProgramOptions &given) {
  Options options;
  Expected<Target> target = parseTarget(given.target);
  if (!target)
    return target.takeError();
  options.target = *target;
  if (!given.numerics.empty())
    if (Error error = parseNumerics(given.numerics, options))
      return std::move(error);
  options.precision = given.precision;
  options.kernels = given.kernels;
  options.entry = given.entry;
  options.cpu = given.cpu;
  options.cache = given.cache;
  if (given.threads > kMaxThreads)
    return usageError("expected at most " + Twine(kMaxThreads) + " threads, found " + Twine(*given.threads));
  Expected<unsigned> threads = given.threads ? Expected<unsigned>(*given.threads) : defaultThreads();
  if (!threads)
    return threads.takeError();
  options.threads = *threads;
  options.optimize = given.optimize;
  options.allowNative = given.allowNative;
  return options;
}

static Failure::Reason reasonOf(ExitCode code) {
  switch (code) {
  case ExitUsage:
    return Failure::Reason::Options;
  case ExitNoTarget:
    return Failure::Reason::Target;
  case ExitInterrupted:
    return Failure::Reason::Interrupted;
  default:
    return Failure::Reason::Source;
  }
}

Failure mlir::ad::runner::makeFailure(Error error, std::vector<Message> diagnostics) {
  auto [code, message] = consumeExitError(std::move(error));
  return {reasonOf(code), std::move(message), "", "", std::move(diagnostics)};
}

Failure mlir::ad::runner::makeFailure(int32_t status, const adrt::ErrorRecord &error,
                                      std::vector<Message> diagnostics) {
  Failure::Reason reason = status == ADRT_CHECK_FAILED   ? Failure::Reason::Check
                           : status == ADRT_HOST_ERROR   ? Failure::Reason::Host
                           : status == ADRT_TARGET_ERROR ? Failure::Reason::Host
                           : status == ADRT_INTERRUPTED  ? Failure::Reason::Interrupted
                                                         : Failure::Reason::Program;
  bool explained = error.status != ADRT_OK || !diagnostics.empty();
  return {reason, explained ? error.message : "the program failed without a reason", error.location,
          error.operation, std::move(diagnostics)};
}

static ProgramValue describeValue(const TensorSpec &spec) {
  return {spec.name, spec.type, {spec.shape.begin(), spec.shape.end()}, spec.donated.value_or(-1)};
}

static std::vector<ProgramValue> describeValues(ArrayRef<TensorSpec> specs) {
  std::vector<ProgramValue> values;
  for (const TensorSpec &spec : specs)
    values.push_back(describeValue(spec));
  return values;
}

ProgramInterface mlir::ad::runner::describe(const Signature &signature) {
  ProgramInterface interface;
  interface.entry = signature.entry;
  interface.arguments = describeValues(signature.arguments);
  interface.results = describeValues(signature.results);
  interface.feeds = describeValues(signature.feeds);
  for (const ReceiveSpec &receive : signature.receives)
    interface.receives.push_back({receive.name, describeValues(receive.values)});
  return interface;
}
