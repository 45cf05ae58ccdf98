// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/LocationText.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

std::string ad::locationText(Location loc) {
  FileLineColLoc position;
  loc->walk([&](Location part) {
    if (auto found = dyn_cast<FileLineColLoc>(part); found && !position)
      position = found;
    return position ? WalkResult::interrupt() : WalkResult::advance();
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (position)
    stream << position.getFilename().getValue() << ":" << position.getLine() << ":" << position.getColumn();
  else
    stream << loc;
  return text;
}
