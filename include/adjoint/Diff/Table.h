// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tables of text, as text with aligned columns, as CSV and as HTML.
#ifndef ADJOINT_DIFF_TABLE_H
#define ADJOINT_DIFF_TABLE_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir::ad::diff {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  /// The class of each row in HTML; empty if no row has one.
  std::vector<std::string> rowClasses;

  std::string toText() const;
  /// RFC 4180, with one newline at the end of a line.
  std::string toCSV() const;
  std::string toHTML() const;
};

/// Text in HTML and SVG.
std::string escapeMarkup(llvm::StringRef text);

/// A page that needs no other file. `body` is markup.
std::string htmlPage(llvm::StringRef title, llvm::StringRef body);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_TABLE_H
