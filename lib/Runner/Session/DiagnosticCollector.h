// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Keeps diagnostics instead of printing them. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_DIAGNOSTICCOLLECTOR_H
#define ADJOINT_LIB_RUNNER_SESSION_DIAGNOSTICCOLLECTOR_H

#include "adjoint/Runner/Program.h"
#include "mlir/IR/Diagnostics.h"

#include <thread>

namespace mlir::ad::runner {

class DiagnosticCollector {
public:
  /// Appends what comes to `messages`, for as long as this object lives. With `onlyThisThread`, others see
  /// what comes from other threads.
  DiagnosticCollector(mlir::MLIRContext *context, std::vector<Message> &messages,
                      bool onlyThisThread = false);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_DIAGNOSTICCOLLECTOR_H
