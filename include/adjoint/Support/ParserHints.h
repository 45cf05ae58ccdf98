// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Hints that are appended to messages of MLIR's parser which only name the missing token.

#ifndef ADJOINT_SUPPORT_PARSERHINTS_H
#define ADJOINT_SUPPORT_PARSERHINTS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::ad {

/// Completes an error of the parser. For an unknown operation, it names the operation of a similar spelling,
/// or the one that other frameworks call so. For a missing token, it names the syntax that follows. It
/// replaces names of C++ by those of the program. It does not change other messages. Returns true for a
/// message that only repeats the previous one.
bool addParserHint(Diagnostic &diagnostic);

/// Completes the errors of a context, as long as it exists. For tools without a diagnostic handler of ours.
void addParserHints(MLIRContext *context);

/// Prints a diagnostic and its notes if it is located in a file other than the input: without the line of
/// that file. MLIR would open any file that a location names, a pipe too. Returns whether it did.
bool printOfOtherFile(const Diagnostic &diagnostic, StringRef input);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_PARSERHINTS_H
