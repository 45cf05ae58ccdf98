// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A program after differentiation and before all options about numerics, precision and kernels. Internal to
// the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_SOURCEPROGRAM_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_SOURCEPROGRAM_H

#include "adjoint/Runner/Session/Tracer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Error.h"

namespace mlir::ad::diff {

/// The text of a program, with locations.
std::string textOf(ModuleOp module);

/// Keeps the program as it was parsed, as text: its context may end before.
class SourceObserver final : public runner::CompilationObserver {
public:
  void parsed(ModuleOp module) override { source = textOf(module); }
  std::unique_ptr<PassInstrumentation> observePasses() override {
    struct Nothing final : PassInstrumentation {};
    return std::make_unique<Nothing>();
  }
  void keep(std::shared_ptr<void>) override {}

  std::string source;
};

/// Differentiates and inlines the program, writes broadcasts and orders into it, and no permissions but those
/// that it has. Functions with contracts that inlining would lose are an error.
llvm::Error differentiateSource(ModuleOp module, llvm::StringRef entry);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_SOURCEPROGRAM_H
