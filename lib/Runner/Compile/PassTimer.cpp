// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Times passes.
#include "adjoint/Runner/IO/Report.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/DenseMap.h"

#include <mutex>

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

class PassTimer final : public PassInstrumentation {
public:
  explicit PassTimer(StageTimes &times) : times(times) {}

  void runBeforePass(Pass *pass, Operation *) override {
    std::lock_guard<std::mutex> lock(mutex);
    started[pass] = Clock::now();
  }
  void runAfterPass(Pass *pass, Operation *) override { finish(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { finish(pass); }

private:
  void finish(Pass *pass) {
    std::lock_guard<std::mutex> lock(mutex);
    // Adaptors of nested pass managers have no flag; their time is that of the nested passes.
    if (!pass->getArgument().empty())
      times.add(pass->getArgument(), std::chrono::duration<double>(Clock::now() - started[pass]).count());
  }

  StageTimes &times;
  std::mutex mutex;
  llvm::DenseMap<Pass *, Clock::time_point> started;
};

} // namespace

std::unique_ptr<PassInstrumentation> mlir::ad::runner::createPassTimer(StageTimes &times) {
  return std::make_unique<PassTimer>(times);
}
