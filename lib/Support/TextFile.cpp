// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/TextFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

LogicalResult ad::writeTextFile(Operation *op, StringRef file, function_ref<void(raw_ostream &)> print) {
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(file, &error);
  if (!output)
    return op->emitError() << error;
  print(output->os());
  output->os().close();
  if (std::error_code code = output->os().error()) {
    output->os().clear_error(); // LLVM's stream would end the process
    return op->emitError() << "cannot write '" << file << "': " << code.message();
  }
  output->keep();
  return success();
}
