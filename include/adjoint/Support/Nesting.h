// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Limits on nested text. The parsers of MLIR, JSON and YAML in LLVM recurse for every bracket, for every
// operator of an affine expression and for every dash of a list, so deeply nested text overflows the stack.

#ifndef ADJOINT_SUPPORT_NESTING_H
#define ADJOINT_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::ad {

/// The maximum nesting of brackets, of all kinds together. It is the default of clang's -fbracket-depth.
constexpr size_t kMaxNesting = 256;

/// The maximum number of operators in one affine expression: of a map, of a set, or as the index of an
/// operation.
constexpr size_t kMaxAffineOperators = 1024;

/// A place of a text that no parser is given, and what is expected there.
struct UnreadableText {
  const char *at;
  std::string message;
};

/// The first place that is nested too deeply in an MLIR or JSON text. Strings and comments do not count.
std::optional<UnreadableText> findTooDeep(llvm::StringRef text);
/// The first such place, or control character, of a module: of its text, or of the texts in its bytecode,
/// which has affine expressions as text.
std::optional<UnreadableText> findUnreadable(llvm::StringRef module);
/// The same for YAML, where lists and mappings in one line (`- - ? -`) are nested as well.
std::optional<UnreadableText> findTooDeepInYAML(llvm::StringRef text);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_NESTING_H
