// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Limits on nested text. The parsers of MLIR, JSON and YAML in LLVM recurse for every bracket, for every operator
// of an affine expression and for every dash of a list, so deeply nested text overflows the stack.

#ifndef ADJOINT_SUPPORT_NESTING_H
#define ADJOINT_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::ad {

/// The maximum nesting of brackets, of all kinds together. It is the default of clang's -fbracket-depth.
constexpr size_t kMaxNesting = 256;

/// The maximum number of operators in one result of an affine map or one condition of a set.
constexpr size_t kMaxAffineOperators = 1024;

/// Where a text is nested too deeply, and what is expected there.
struct TooDeep {
  const char *at;
  std::string message;
};

/// The first such place of an MLIR or JSON text; none in MLIR bytecode. Strings and comments do not count.
std::optional<TooDeep> findTooDeep(llvm::StringRef text);
/// The same for YAML, where lists and mappings in one line (`- - ? -`) are nested as well.
std::optional<TooDeep> findTooDeepInYAML(llvm::StringRef text);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_NESTING_H
