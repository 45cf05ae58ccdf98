// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Text that a parser of LLVM would follow until the stack ends: MLIR's and that of JSON call themselves for
// every bracket.

#ifndef ADJOINT_SUPPORT_NESTING_H
#define ADJOINT_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::ad {

/// How deep brackets of a text may be nested, of all kinds together: as deep as clang's -fbracket-depth
/// allows.
constexpr size_t kMaxNesting = 256;

/// The first bracket of an MLIR or JSON text that is nested deeper than kMaxNesting, as a pointer into the
/// text; null if there is none, or if the text is MLIR's bytecode. Brackets in strings and comments do not
/// count.
const char *findTooDeep(llvm::StringRef text);
/// What is wrong with such a text.
std::string tooDeepMessage();

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_NESTING_H
