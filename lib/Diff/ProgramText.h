// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The statements of the text of a program. Internal to the library.
#ifndef ADJOINT_LIB_DIFF_PROGRAMTEXT_H
#define ADJOINT_LIB_DIFF_PROGRAMTEXT_H

#include "adjoint/Diff/ProgramEdits.h"

namespace mlir::ad::diff {

/// A statement with what a comparison of programs needs.
struct ParsedStatement : Statement {
  std::string anonymous; ///< the text without names
  std::vector<std::string> names;
  std::vector<bool> defines; ///< for each name
  bool isFunction = false;   ///< where names begin anew
};

std::vector<ParsedStatement> parseStatements(llvm::StringRef text, llvm::StringRef file);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_DIFF_PROGRAMTEXT_H
