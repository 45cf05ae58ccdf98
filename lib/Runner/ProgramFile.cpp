// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiled files for embedders.
#include "adjoint/Runner/ProgramFile.h"
#include "AOT/EmitLibrary.h"
#include "Compile/Frontend.h"
#include "ProgramSupport.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

static Expected<Weight> copyBound(const BoundArgument &bound, const Signature &signature) {
  auto spec =
      llvm::find_if(signature.arguments, [&](const TensorSpec &one) { return one.name == bound.name; });
  if (spec == signature.arguments.end())
    return usageError("the program has no argument '" + bound.name + "'");
  llvm::ArrayRef<int64_t> shape(bound.value.shape, bound.value.rank);
  auto type = static_cast<adrt_type>(bound.value.type);
  if (type != spec->type || !shapeFits(shape, spec->shape))
    return usageError("argument '" + bound.name + "': expected " + formatType(*spec) + ", got " +
                      formatType(type, shape));
  Expected<Tensor> value = Tensor::copyOf(bound.value);
  if (!value)
    return value.takeError();
  return Weight{bound.name, std::move(*value)};
}

static Error write(std::string_view source, std::string_view name, const Options &options, const Hooks &hooks,
                   const std::vector<BoundArgument> &bound, MessageRecorder &recorder,
                   const std::function<bool()> &interrupted) {
  if (options.target == Target::Reference)
    return usageError("target 'reference' has no compiled code, expected cpu, gpu-sim or cuda");
  Expected<CpuTarget> cpu = findCpu(options.cpu, /*elsewhere=*/true);
  if (!cpu)
    return cpu.takeError();
  Report report;
  std::unique_ptr<llvm::MemoryBuffer> input = llvm::MemoryBuffer::getMemBufferCopy(source, name);
  Expected<CompiledProgram> program =
      Frontend(options, hooks, report, recorder, interrupted).compileOnce(*input, *cpu);
  if (!program)
    return program.takeError();
  std::vector<Weight> weights;
  for (const BoundArgument &one : bound) {
    Expected<Weight> weight = copyBound(one, program->signature);
    if (!weight)
      return weight.takeError();
    weights.push_back(std::move(*weight));
  }
  Error error = emitProgram(options.emit, std::move(*program), *cpu, std::move(weights));
  // A terminal interrupts the linker too, whose end is no fault of the program.
  if (error && interrupted()) {
    llvm::consumeError(std::move(error));
    return exitError(ExitInterrupted, "interrupted");
  }
  return error;
}

bool mlir::ad::runner::writeProgram(std::string_view source, std::string_view name,
                                    const ProgramOptions &given, const std::vector<BoundArgument> &bound,
                                    const std::string &path, const Hooks &hooks,
                                    const std::function<bool()> &interrupted, Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  MessageRecorder recorder;
  Expected<Options> options = makeRunnerOptions(given);
  if (!options) {
    failure = makeFailure(options.takeError(), {});
    return false;
  }
  options->emit = path;
  const std::function<bool()> isInterrupted = interrupted ? interrupted : [] { return false; };
  Error error = write(source, name, *options, hooks, bound, recorder, isInterrupted);
  if (!error)
    return true;
  failure = makeFailure(std::move(error), std::move(recorder.messages));
  return false;
}
