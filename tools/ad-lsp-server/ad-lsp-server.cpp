// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The language server: completion, hover and diagnostics for programs in the `ad` dialect.

#include "adjoint/InitAllDialects.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/OutOfMemory.h"
#include "adjoint/Support/OutputFile.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  adrt::FloatingPointScope floatingPoint;
  mlir::ad::runner::keepStandardDescriptors();
  mlir::ad::runner::checkStandardOutputAtExit("ad-lsp-server");
  mlir::ad::runner::endOnLackOfMemory("ad-lsp-server");
  mlir::DialectRegistry registry;
  mlir::ad::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
