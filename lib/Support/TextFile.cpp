// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/TextFile.h"
#include "adjoint/Support/OutputFile.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

llvm::Error ad::writeText(StringRef file, StringRef text) { return runner::writeFile(file, {text}); }

LogicalResult ad::writeTextFile(Operation *op, StringRef option, StringRef file,
                                function_ref<void(raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  llvm::Error error = writeText(file, text);
  if (!error)
    return success();
  // Not emitted by `op`, which would attach a note with the whole program.
  return emitError(op->getLoc()) << "option " << option << ": " << llvm::toString(std::move(error));
}
