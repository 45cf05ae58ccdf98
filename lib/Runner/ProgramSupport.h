// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What Program.h and Analysis.h share: options, messages, failures and interfaces of programs. Internal to
// the runner.
#ifndef ADJOINT_LIB_RUNNER_PROGRAMSUPPORT_H
#define ADJOINT_LIB_RUNNER_PROGRAMSUPPORT_H

#include "DiagnosticCollector.h"
#include "IO/Listener.h"
#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runner/Program.h"

namespace mlir::ad::runner {

/// Collects the diagnostics and warnings of a compilation.
class MessageRecorder final : public Listener {
public:
  std::string optionText(llvm::StringRef name, llvm::StringRef value) const override {
    return (name + "=" + value).str();
  }
  void warn(const llvm::Twine &text) override { messages.push_back({"warning", "", 0, 0, text.str(), {}}); }
  std::shared_ptr<void> watch(llvm::SourceMgr &, mlir::MLIRContext *context) override {
    return std::make_shared<DiagnosticCollector>(context, messages);
  }

  std::vector<Message> messages;
};

llvm::Expected<Options> makeRunnerOptions(const ProgramOptions &given);

Failure makeFailure(llvm::Error error, std::vector<Message> diagnostics);
/// The failure of a run that returned `status`.
Failure makeFailure(int32_t status, const adrt::ErrorRecord &error, std::vector<Message> diagnostics);

ProgramInterface describe(const Signature &signature);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_PROGRAMSUPPORT_H
