// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conditions of a host program as `cf.assert`.

#ifndef ADJOINT_LIB_CONVERSION_ADTOPLAIN_HOSTCODE_H
#define ADJOINT_LIB_CONVERSION_ADTOPLAIN_HOSTCODE_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad::plain {

/// What a run-time error of this kind (adrt_failure) says. An assertion names no values.
StringRef messageOf(int32_t kind);

/// Ends the program with the location, the operation and the message unless the condition holds.
void assertThat(OpBuilder &builder, Location loc, Value condition, StringRef operation, StringRef message);

/// Patterns for the `check` dialect.
void populateCheckPatterns(RewritePatternSet &patterns);

/// Patterns for loops.
void populateLoopPatterns(RewritePatternSet &patterns);

} // namespace mlir::ad::plain

#endif // ADJOINT_LIB_CONVERSION_ADTOPLAIN_HOSTCODE_H
