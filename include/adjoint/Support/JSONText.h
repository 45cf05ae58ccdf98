// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// JSON that comes from outside, and JSON that is written: the one place where such text is parsed and
// printed.

#ifndef ADJOINT_SUPPORT_JSONTEXT_H
#define ADJOINT_SUPPORT_JSONTEXT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace mlir::ad {

/// The maximum length of a text, in bytes.
constexpr size_t kMaxJSONBytes = size_t(64) << 20;

/// The value; an error without the name of the file for text that is no JSON, is nested deeper than
/// kMaxNesting (Nesting.h) or is too long.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

/// The same for a file. Its length is known before it is read; the error names the file, if it cannot be
/// read.
llvm::Expected<llvm::json::Value> readJSON(llvm::StringRef path);

/// The value in lines, with a line feed at the end. Its strings may hold texts of files: control characters
/// in them, and those that change the direction in which a text is shown, are escapes.
std::string jsonText(const llvm::json::Value &value);
/// The same in one line, without a line feed.
std::string jsonLine(const llvm::json::Value &value);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_JSONTEXT_H
