// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Keeps diagnostics instead of printing them. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_DIAGNOSTICCOLLECTOR_H
#define ADJOINT_LIB_RUNNER_DIAGNOSTICCOLLECTOR_H

#include "adjoint/Runner/Program.h"
#include "mlir/IR/Diagnostics.h"

#include <thread>

namespace mlir::ad::runner {

class DiagnosticCollector {
public:
  /// Appends diagnostics to `messages` during the lifetime of this object. With `onlyThisThread`, other
  /// handlers get the diagnostics of other threads.
  DiagnosticCollector(mlir::MLIRContext *context, std::vector<Message> &messages,
                      bool onlyThisThread = false);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_DIAGNOSTICCOLLECTOR_H
