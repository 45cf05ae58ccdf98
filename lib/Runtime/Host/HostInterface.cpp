/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The functions of adrt_host.h, and conversions to bf16 by the names that libraries of programs call. */
#include "Failure.h"
#include "adjoint/Runtime/Host/BF16.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/adrt_host.h"
#include "adjoint/Support/Elements.h"

#include <algorithm>
#include <new>

namespace {

/// A context that C made.
struct HostContext : adrt_context {
  std::string text; ///< of the last error
};

int32_t withReason(int32_t status, const char *what, std::string &error) {
  if (status != ADRT_OK)
    error = std::string("the ") + what + " of the host failed";
  return status;
}

int32_t refuseFeed(const char *name, const adrt_tensor &, std::string &error) {
  error = "the host has no feed '" + std::string(name) + "'; see adrt_on_feed";
  return ADRT_HOST_ERROR;
}

int32_t ignoreValues(const char *, const adrt_tensor *, int32_t, std::string &) { return ADRT_OK; }

std::string textOf(const adrt::ErrorRecord &error) {
  std::string text;
  if (!error.location.empty())
    text += error.location + ": ";
  if (!error.operation.empty())
    text += "'" + error.operation + "' ";
  return text + error.message;
}

std::string wrongArgument(int32_t number, int64_t what, int64_t expected, int64_t actual) {
  const int64_t values[] = {number, what, expected, actual};
  return adrt::describeFailure(ADRT_FAIL_ARGUMENT, values, 4);
}

/// Compiled code does not look at the types of its arguments.
std::string problemOfArgument(int32_t number, const adrt_parameter &expected, const adrt_tensor &actual) {
  constexpr int64_t ofType = -1, ofRank = -2;
  if (actual.type != expected.type)
    return wrongArgument(number, ofType, expected.type, actual.type);
  if (actual.rank != expected.rank)
    return wrongArgument(number, ofRank, expected.rank, actual.rank);
  if (actual.rank > 0 && !actual.shape)
    return "argument " + std::to_string(number) + " has no shape";
  for (int32_t axis = 0; axis < expected.rank; ++axis) {
    if (actual.shape[axis] < 0)
      return "argument " + std::to_string(number) + " has a negative size";
    if (expected.shape[axis] >= 0 && actual.shape[axis] != expected.shape[axis])
      return wrongArgument(number, axis, expected.shape[axis], actual.shape[axis]);
  }
  if (actual.memory != ADRT_HOST_MEMORY)
    return "argument " + std::to_string(number) + " must be in host memory";
  if (!actual.data && adrt::byteSize(actual.type, actual.rank, actual.shape) != 0)
    return "argument " + std::to_string(number) + " has no data";
  return "";
}

std::string problemOf(const adrt_program &program, const adrt_tensor *arguments) {
  if (program.abi_version != ADRT_ABI_VERSION)
    return "the program was compiled for version " + std::to_string(program.abi_version) +
           " of libadrt, and this is version " + std::to_string(ADRT_ABI_VERSION) + "; compile it again";
  for (int32_t number = 0; number < program.argument_count; ++number)
    if (std::string problem = problemOfArgument(number, program.arguments[number], arguments[number]);
        !problem.empty())
      return problem;
  return "";
}

} // namespace

int32_t adrt_abi_version(void) { return ADRT_ABI_VERSION; }

adrt_context *adrt_create(int32_t threads) {
  auto *context = new (std::nothrow) HostContext;
  if (!context)
    return nullptr;
  constexpr int32_t most = 1024; // as in `ad-runner --threads`
  context->setThreads(threads > 0 ? static_cast<unsigned>(std::min(threads, most)) : adrt::countCPUs());
  context->feed = refuseFeed;
  context->receive = ignoreValues;
  return context;
}

void adrt_destroy(adrt_context *context) { delete static_cast<HostContext *>(context); }

int32_t adrt_run(adrt_context *context, const adrt_program *program, const adrt_tensor *arguments,
                 adrt_tensor *results) {
  context->resultCount = static_cast<size_t>(program->result_count);
  int32_t status = context->run([&] {
    std::string problem = problemOf(*program, arguments);
    if (!problem.empty())
      return context->fail(ADRT_PROGRAM_ERROR, nullptr, problem);
    return program->entry(context, arguments, results);
  });
  static_cast<HostContext *>(context)->text = status == ADRT_OK ? "" : textOf(context->getError());
  return status;
}

const char *adrt_error(const adrt_context *context) {
  return static_cast<const HostContext *>(context)->text.c_str();
}

void adrt_on_feed(adrt_context *context, adrt_feed_callback callback, void *closure) {
  if (!callback) {
    context->feed = refuseFeed;
    return;
  }
  context->feed = [=](const char *name, const adrt_tensor &destination, std::string &error) {
    return withReason(callback(closure, name, &destination), "feed", error);
  };
}

void adrt_on_receive(adrt_context *context, adrt_receive_callback callback, void *closure) {
  if (!callback) {
    context->receive = ignoreValues;
    return;
  }
  context->receive = [=](const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
    return withReason(callback(closure, name, values, count), "receiver", error);
  };
}

void adrt_on_interrupt(adrt_context *context, adrt_interrupt_callback callback, void *closure) {
  context->interrupted = nullptr;
  if (callback)
    context->interrupted = [=] { return callback(closure) != 0; };
}

extern "C" {
__bf16 adrt_bf16_from_f32(float value) { return adrt::bf16FromF32(value); }
__bf16 adrt_bf16_from_f64(double value) { return adrt::bf16FromF64(value); }
}
