// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Counts in messages.
#ifndef ADJOINT_SUPPORT_COUNTTEXT_H
#define ADJOINT_SUPPORT_COUNTTEXT_H

#include <cstdint>
#include <string>

namespace mlir::ad {

/// The count and the noun, in the plural unless there is one: `1 rewrite`, `2 rewrites`.
inline std::string countText(uint64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_COUNTTEXT_H
