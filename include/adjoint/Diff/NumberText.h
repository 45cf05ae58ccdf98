// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbers as Python prints them, which the string forms of differences need, and counts.
#ifndef ADJOINT_DIFF_NUMBERTEXT_H
#define ADJOINT_DIFF_NUMBERTEXT_H

#include "adjoint/Support/CountText.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir::ad::diff {

/// The fewest digits that give `value` back, as Python's repr has them: `0.0001`, `1e-05`, `12.0`, `1e+16`.
std::string pythonNumber(double value);

/// Doubles have all smaller integers.
constexpr double kFirstInexact = 0x1p53;

/// The same of a number that is also known as an integer: all digits of integers beyond 2^53.
std::string pythonNumber(double value, std::optional<uint64_t> integer);
std::string pythonNumber(double value, std::optional<int64_t> integer);

/// At most `digits` significant digits, as the format `{:.3g}` of Python and `%.3g` of C have them.
std::string generalNumber(double value, int digits);

using mlir::ad::countText;

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_NUMBERTEXT_H
