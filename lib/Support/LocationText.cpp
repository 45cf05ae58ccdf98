// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/LocationText.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

std::string ad::locationText(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location part) {
    if (auto found = dyn_cast<FileLineColLoc>(part); found && !place)
      place = found;
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (place)
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
  else
    stream << loc;
  return text;
}
