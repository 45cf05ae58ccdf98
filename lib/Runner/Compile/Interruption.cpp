// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The action handler that skips passes.
#include "Interruption.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::ad::runner;

PassSkipper::PassSkipper(MLIRContext *context, Interruption &interruption) : context(context) {
  context->registerActionHandler(
      [&interruption](llvm::function_ref<void()> run, const tracing::Action &action) {
        if (!isa<PassExecutionAction>(action) || !interruption.check())
          run();
      });
}
