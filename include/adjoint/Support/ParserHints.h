// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What to write instead, behind messages of MLIR's parser that only say what it did not find.

#ifndef ADJOINT_SUPPORT_PARSERHINTS_H
#define ADJOINT_SUPPORT_PARSERHINTS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir::ad {

/// Completes an error of the parser: names the operation that an unknown one stands for, by what other
/// frameworks call it or by its spelling, or what comes next, and says in words of the program what the
/// parser says in those of C++. Leaves other messages as they are. Returns true for one that only repeats the
/// one before.
bool addParserHint(Diagnostic &diagnostic);

/// Completes the errors in a context that nothing else of ours watches, for as long as the context lives.
void addParserHints(MLIRContext *context);

/// Fails after an error at the bracket where the main file of `sources` is nested too deeply for the parser.
LogicalResult verifyNesting(const llvm::SourceMgr &sources, MLIRContext *context);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_PARSERHINTS_H
