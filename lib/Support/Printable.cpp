// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/Printable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Unicode.h"

using namespace mlir::ad;
using llvm::StringRef;

namespace {

/// A character at the start of a text: its bytes, and its number, or none for a byte that begins no
/// character.
struct Character {
  size_t bytes;
  std::optional<llvm::UTF32> number;
};

Character firstCharacter(StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin()), *at = begin;
  llvm::UTF32 number = 0;
  bool isCharacter = llvm::convertUTF8Sequence(&at, reinterpret_cast<const llvm::UTF8 *>(text.end()), &number,
                                               llvm::strictConversion) == llvm::conversionOK;
  if (!isCharacter)
    return {1, std::nullopt};
  return {static_cast<size_t>(at - begin), number};
}

bool isASCII(char c) { return c >= ' ' && c <= '~'; }

/// The length of the start of a text that is shown as it is.
size_t countPlain(StringRef text, StringRef allowed) {
  size_t at = 0;
  while (at < text.size()) {
    if (isASCII(text[at]) || allowed.contains(text[at])) {
      ++at;
      continue;
    }
    Character character = firstCharacter(text.substr(at));
    if (!character.number || !llvm::sys::unicode::isPrintable(static_cast<int>(*character.number)))
      break;
    at += character.bytes;
  }
  return at;
}

void print(StringRef text, StringRef allowed, llvm::raw_ostream &os) {
  while (!text.empty()) {
    size_t plain = countPlain(text, allowed);
    os << text.take_front(plain);
    text = text.drop_front(plain);
    if (text.empty())
      return;
    Character character = firstCharacter(text);
    if (character.number)
      os << llvm::format("\\u{%X}", *character.number);
    else
      os << llvm::format("\\x%02X", static_cast<unsigned char>(text.front()));
    text = text.drop_front(character.bytes);
  }
}

std::string printed(StringRef text, StringRef allowed) {
  std::string result;
  llvm::raw_string_ostream os(result);
  print(text, allowed, os);
  return result;
}

} // namespace

static constexpr StringRef kOfLines = "\n\t";

std::string mlir::ad::printable(StringRef text) { return printed(text, ""); }

std::string mlir::ad::printableLines(StringRef text) { return printed(text, kOfLines); }

std::string mlir::ad::messageText(const llvm::Twine &message) {
  std::string text = message.str();
  llvm::SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  return llvm::join(lines, "\n  ");
}

bool mlir::ad::isPrintable(StringRef text) { return countPlain(text, "") == text.size(); }

/// Of Unicode's control characters and those that order text from right to left or end a line (UAX #9).
static bool isControl(llvm::UTF32 character) {
  static constexpr llvm::UTF32 ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                              {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
  return llvm::any_of(ranges,
                      [&](const auto &range) { return range[0] <= character && character <= range[1]; });
}

size_t mlir::ad::findControlCharacter(StringRef text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (isASCII(text[at]) || StringRef("\n\r\t").contains(text[at]))
      continue;
    Character character = firstCharacter(text.substr(at));
    if (character.number && isControl(*character.number))
      return at;
    at += character.bytes - 1;
  }
  return StringRef::npos;
}

/// The bytes at the end of a text that begin a character and do not end it.
static size_t countUnfinished(StringRef text) {
  constexpr size_t longest = 4;
  for (size_t count = 1; count < longest && count <= text.size(); ++count) {
    StringRef last = text.take_back(count);
    const auto *at = reinterpret_cast<const llvm::UTF8 *>(last.begin());
    llvm::UTF32 number = 0;
    if (llvm::convertUTF8Sequence(&at, reinterpret_cast<const llvm::UTF8 *>(last.end()), &number,
                                  llvm::strictConversion) == llvm::sourceExhausted)
      return count;
  }
  return 0;
}

// A source line with tabs is printed byte by byte.
void PrintableStream::write_impl(const char *text, size_t size) {
  position += size;
  unfinished.append(text, size);
  std::string written = std::exchange(unfinished, {});
  size_t count = countUnfinished(written);
  unfinished = written.substr(written.size() - count);
  print(StringRef(written).drop_back(count), kOfLines, target);
}

PrintableStream::~PrintableStream() {
  flush();
  print(unfinished, kOfLines, target);
}

llvm::raw_ostream &PrintableStream::changeColor(Colors color, bool bold, bool background) {
  target.changeColor(color, bold, background);
  return *this;
}

llvm::raw_ostream &PrintableStream::resetColor() {
  target.resetColor();
  return *this;
}

llvm::raw_ostream &PrintableStream::reverseColor() {
  target.reverseColor();
  return *this;
}

llvm::raw_ostream &mlir::ad::printableErrors() {
  // Never destroyed: messages come at the end of the process too.
  static auto *stream = new PrintableStream(llvm::errs());
  return *stream;
}
