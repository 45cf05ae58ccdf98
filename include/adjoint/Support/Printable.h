// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Names and texts of files in messages, tables and pictures. A file may hold any bytes: those that steer a
// terminal, or that show a text in another order than it is written, are shown by their numbers.

#ifndef ADJOINT_SUPPORT_PRINTABLE_H
#define ADJOINT_SUPPORT_PRINTABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace mlir::ad {

/// A text of one line: letters, marks, numbers, signs and blanks of Unicode as they are, other characters as
/// `\u{1B}`, bytes that are not UTF-8 as `\xFF`.
std::string printable(llvm::StringRef text);
/// The same for a text of several lines: line feeds and tabs stay.
std::string printableLines(llvm::StringRef text);

/// The text of a message. Its lines after the first are indented, so that no text of a file in it looks like
/// a message of its own.
std::string messageText(const llvm::Twine &message);

/// Whether `printable` leaves the text as it is.
bool isPrintable(llvm::StringRef text);

/// The offset of the first control character other than a line feed, a carriage return or a tab, or of one
/// that changes the direction in which a text is shown; npos without any.
size_t findControlCharacter(llvm::StringRef text);

/// Writes printable lines to another stream, which must outlive it. Colors go through. It has no buffer.
class PrintableStream final : public llvm::raw_ostream {
public:
  explicit PrintableStream(llvm::raw_ostream &target) : raw_ostream(/*unbuffered=*/true), target(target) {
    enable_colors(target.colors_enabled());
  }
  ~PrintableStream() override;

  bool is_displayed() const override { return target.is_displayed(); }
  bool has_colors() const override { return target.has_colors(); }
  raw_ostream &changeColor(Colors color, bool bold, bool background) override;
  raw_ostream &resetColor() override;
  raw_ostream &reverseColor() override;

private:
  void write_impl(const char *text, size_t size) override;
  uint64_t current_pos() const override { return position; }

  llvm::raw_ostream &target;
  std::string unfinished; ///< the first bytes of a character whose others have not come yet
  uint64_t position = 0;
};

/// The standard error output, with printable lines only.
llvm::raw_ostream &printableErrors();

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_PRINTABLE_H
