// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How the text forms name operations.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_TEXTS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_TEXTS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::print {

/// The operation without its number and its operands in recorded words, e.g. `MULT (510)`.
std::string describe(Operation *op, bool inPlace = false);

/// The same in words of the dialect, e.g. `ad.mul : tensor<2x255xf32>`.
std::string describeInDialect(Operation *op, bool inPlace = false);

/// `[2, 255]`; `?` is a dynamic size.
std::string listOf(ArrayRef<int64_t> sizes);
std::string shapeOf(Value tensor);

/// The one value of a constant as text, or nothing when it has several.
std::optional<std::string> literalOf(Operation *op);

} // namespace mlir::ad::print

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_TEXTS_H
