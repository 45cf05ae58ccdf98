// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shows a compilation on the console. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_CONSOLELISTENER_H
#define ADJOINT_LIB_RUNNER_SESSION_CONSOLELISTENER_H

#include "../IO/Listener.h"
#include "../Options/Console.h"
#include "adjoint/Support/ParserHints.h"
#include "adjoint/Support/Printable.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::ad::runner {

class ConsoleListener final : public Listener {
public:
  explicit ConsoleListener(Console &console) : console(console) {}
  void progress(const llvm::Twine &text) override { console.progress(text); }
  void warn(const llvm::Twine &message) override { console.warn(message); }
  std::shared_ptr<void> watch(llvm::SourceMgr &sources, mlir::MLIRContext *context) override {
    return std::make_shared<Watch>(sources, context);
  }

private:
  /// The last handler runs first.
  struct Watch {
    Watch(llvm::SourceMgr &sources, mlir::MLIRContext *context)
        : ofProgram(sources, context, mlir::ad::printableErrors()),
          ofOthers(context, [&sources](mlir::Diagnostic &diagnostic) {
            llvm::StringRef input = sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
            return mlir::success(mlir::ad::printOfOtherFile(diagnostic, input));
          }) {}
    mlir::SourceMgrDiagnosticHandler ofProgram;
    mlir::ScopedDiagnosticHandler ofOthers;
  };

  Console &console;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_CONSOLELISTENER_H
