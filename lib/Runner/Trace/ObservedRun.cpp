// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Keeps the results of fusions during the run, and interprets the fused program with them at its end.
#include "adjoint/Runner/Trace/ObservedRun.h"
#include "FusionResults.h"
#include "adjoint/Reference/Reference.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/TraceName.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

class FusedProgramKeeper final : public PassInstrumentation {
public:
  explicit FusedProgramKeeper(ObservedRun &run) : run(run) {}
  void runBeforePass(Pass *pass, Operation *op) override { run.beforePass(pass, op); }

private:
  ObservedRun &run;
};

} // namespace

ObservedRun::ObservedRun(Target target, reference::Observer &observer) : target(target), observer(observer) {}
ObservedRun::~ObservedRun() = default;

void ObservedRun::beforePass(Pass *pass, Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (module && pass->getArgument() == "ad-insert-trace")
    fused = module.clone();
  if (module && writtenWatch.begin && !written && pass->getArgument() == "ad-simplify")
    written = module.clone();
}

std::unique_ptr<PassInstrumentation> ObservedRun::observePasses() {
  return std::make_unique<FusedProgramKeeper>(*this);
}

Error ObservedRun::start(const Signature &newSignature, Bindings &newBindings, Executable &executable,
                         const std::function<bool()> &newInterrupted) {
  signature = newSignature;
  bindings = &newBindings;
  interrupted = newInterrupted;
  if (target == Target::Reference) {
    executable.setObserver(&observer);
    return Error::success();
  }
  if (!fused)
    return exitError(ExitProgramError, "a trace needs a program in the ad dialect, and this one has been "
                                       "lowered already");
  for (const Tensor &argument : newBindings.arguments) {
    Expected<Tensor> copy = argument.clone();
    if (!copy)
      return copy.takeError();
    arguments.push_back(std::move(*copy));
  }
  if (folder.empty()) {
    llvm::SmallString<64> temporary;
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, temporary);
    folder = temporary.str().str();
  }
  queue = std::make_unique<TensorQueue>();
  return queue->open(folder);
}

int32_t ObservedRun::received(const char *name, llvm::ArrayRef<adrt_tensor> values, std::string &error) {
  if (name != ad::kTraceName)
    return ADRT_OK;
  for (const adrt_tensor &value : values)
    if (Error failure = queue->push(value)) {
      error = consumeExitError(std::move(failure)).second;
      return ADRT_HOST_ERROR;
    }
  return ADRT_OK;
}

int32_t ObservedRun::interpret(ModuleOp module, reference::Observer &shownTo, std::string &error) {
  bindings->rewindFeeds();
  adrt_context context;
  context.feed = [this](const char *name, const adrt_tensor &destination, std::string &error) {
    adrt::FloatingPointScope floatingPoint;
    return bindings->feed(name, destination, error);
  };
  context.receive = [](const char *, const adrt_tensor *, int32_t, std::string &) { return ADRT_OK; };
  context.interrupted = [this] { return stopped = stopped || (interrupted && interrupted()); };
  std::vector<adrt_tensor> views, outputs(signature.results.size());
  for (const Tensor &argument : arguments)
    views.push_back(argument.view());
  int32_t end = context.run(
      [&] { return ad::runReference(module, signature.entry, &context, views, outputs, &shownTo); });
  error = context.getError().message;
  return end;
}

// If it fails, the compiled program does so, too.
Error ObservedRun::interpretWritten() {
  reference::Observer *watch = written ? writtenWatch.begin(*written, *fused) : nullptr;
  if (!watch)
    return Error::success();
  std::vector<Tensor> kept; // a program may overwrite its arguments
  for (const Tensor &argument : arguments) {
    Expected<Tensor> copy = argument.clone();
    if (!copy)
      return copy.takeError();
    kept.push_back(std::move(*copy));
  }
  std::string ignored;
  interpret(*written, *watch, ignored);
  arguments = std::move(kept);
  writtenWatch.end();
  return Error::success();
}

Error ObservedRun::finish(int32_t status, const adrt::ErrorRecord &, llvm::ArrayRef<adrt_tensor>,
                          const Report &) {
  if (target == Target::Reference || status == ADRT_INTERRUPTED)
    return Error::success();
  if (Error error = queue->rewind())
    return error;
  if (Error error = interpretWritten())
    return error;
  FusionResults results(*queue, observer);
  std::string message;
  int32_t end = interpret(*fused, results, message);
  different = results.countDifferent();
  if (stopped)
    return exitError(ExitInterrupted, "interrupted");
  if (end == ADRT_OK || status != ADRT_OK)
    return Error::success();
  std::string reason = results.hasMismatch() ? "a kernel wrote a tensor of another size than expected"
                       : results.hasEnded()  ? "the program sent too few results"
                                             : message;
  return exitError(ExitProgramError, "the values inside of kernels cannot be computed: " + reason);
}
