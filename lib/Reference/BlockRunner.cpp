// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An interpreter with a context of its own, which is made once for many blocks.
#include "adjoint/Reference/BlockRunner.h"
#include "Interpreter.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Support/FloatingPointState.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::ad::reference;

struct BlockRunner::State {
  explicit State(ModuleOp module) : interpreter(module, &context, /*observer=*/nullptr) {}

  adrt_context context;
  Interpreter interpreter;
};

BlockRunner::BlockRunner(ModuleOp module) : state(std::make_unique<State>(module)) {}
BlockRunner::~BlockRunner() = default;

FailureOr<SmallVector<Tensor>> BlockRunner::run(Block &block, ArrayRef<Tensor> arguments,
                                                std::string &reason) {
  adrt::FloatingPointScope floatingPoint;
  ScopedDiagnosticHandler handler(state->interpreter.module.getContext(),
                                  [&](Diagnostic &diagnostic) { reason = diagnostic.str(); });
  SmallVector<Tensor> results;
  int32_t status = state->context.run([&]() -> int32_t {
    Frame frame(state->interpreter);
    return frame.runBlock(block, arguments, results);
  });
  if (status == ADRT_OK)
    return results;
  if (reason.empty())
    reason = state->context.getError().message;
  return failure();
}
