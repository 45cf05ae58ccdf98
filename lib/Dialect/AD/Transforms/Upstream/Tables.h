// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which patterns and folders of MLIR may rewrite programs in `ad`. Each dialect has two tables. A pattern or
// an operation without a row is not admitted. A row that is not admitted says why. ad-list-patterns
// --upstream lists what MLIR has, and test/Permissions/upstream_patterns_test.py refuses patterns without a
// row and rows without a pattern.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_UPSTREAM_TABLES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_UPSTREAM_TABLES_H

#include "mlir/IR/Operation.h"

namespace mlir::ad::upstream {

constexpr llvm::StringLiteral kAdmitted = "";

/// A canonicalization that MLIR registers for an operation, by the name of its class.
struct PatternRow {
  llvm::StringLiteral operation, pattern;
  /// Why it stays out, in one sentence without a period, with the report to MLIR if there is one.
  llvm::StringLiteral refusal;
};

/// The folder of an operation. An operation that has none, but has admitted patterns, has a row too: it is
/// visited.
struct FolderRow {
  llvm::StringLiteral operation, refusal;
};

struct Table {
  ArrayRef<PatternRow> patterns;
  ArrayRef<FolderRow> folders;
};

Table arithTable();
Table controlTable(); ///< scf
Table sizesTable();   ///< tensor.dim, tensor.cast and memref.dim

/// Whether an admitted folder of arith is right for the types of an operation.
bool mayFoldTypes(Operation *op);

} // namespace mlir::ad::upstream

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_UPSTREAM_TABLES_H
