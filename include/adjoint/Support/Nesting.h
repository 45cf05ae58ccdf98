// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A limit on nested brackets. The parsers of MLIR and JSON in LLVM recurse for every bracket, so deeply
// nested text overflows the stack.

#ifndef ADJOINT_SUPPORT_NESTING_H
#define ADJOINT_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::ad {

/// The maximum nesting of brackets, of all kinds together. It is the default of clang's -fbracket-depth.
constexpr size_t kMaxNesting = 256;

/// A pointer to the first bracket of an MLIR or JSON text that is nested deeper than kMaxNesting. Null if
/// there is none, or if the text is MLIR bytecode. Brackets in strings and comments do not count.
const char *findTooDeep(llvm::StringRef text);
/// The error message about such a text.
std::string tooDeepMessage();

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_NESTING_H
