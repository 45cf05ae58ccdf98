// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbers as Python prints them, which the string forms of differences need, and counts.
#ifndef ADJOINT_DIFF_NUMBERTEXT_H
#define ADJOINT_DIFF_NUMBERTEXT_H

#include <cstdint>
#include <string>

namespace mlir::ad::diff {

/// The fewest digits that give `value` back, as Python's repr has them: `0.0001`, `1e-05`, `12.0`, `1e+16`.
std::string pythonNumber(double value);

/// At most `digits` significant digits, as the format `{:.3g}` of Python and `%.3g` of C have them.
std::string generalNumber(double value, int digits);

/// The count and the noun, in the plural unless there is one: `1 rewrite`, `2 rewrites`.
std::string countText(uint64_t count, const std::string &noun);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_NUMBERTEXT_H
