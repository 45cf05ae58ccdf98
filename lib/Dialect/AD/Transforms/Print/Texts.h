// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Parts of the text forms: sizes, numbers, and the texts of operations in words of the dialect.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_TEXTS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_TEXTS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::print {

/// The operation without its number and its operands in words of the dialect, e.g. `ad.mul :
/// tensor<2x255xf32>`.
std::string describeInDialect(Operation *op, bool inPlace = false);

/// `[2, 255]`; `?` is a dynamic size.
std::string listOf(ArrayRef<int64_t> sizes);
std::string shapeOf(Value tensor);

ArrayRef<int64_t> sizesOf(Value tensor);
/// `?` for a dynamic size.
std::string sizeText(int64_t size);
/// The number of elements.
std::string countText(ArrayRef<int64_t> sizes);
/// A bound of a loop.
std::string boundText(Value index);

/// The one value of a constant as text, or nothing when it has several.
std::optional<std::string> literalOf(Operation *op);

} // namespace mlir::ad::print

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_TEXTS_H
