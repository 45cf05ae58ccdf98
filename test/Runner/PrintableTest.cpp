// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Texts of files as they are shown: Unicode of UTF-8 (RFC 3629), and numbers of what steers a terminal.
#include "adjoint/Support/Printable.h"
#include "gtest/gtest.h"

using namespace mlir::ad;
using llvm::StringRef;

TEST(Printable, TextStays) {
  for (StringRef text : {"", "energy", "a b", "grüße", "∂f/∂x", "数値", "𝛻", "a\\x1B", "\xC2\xA0"}) {
    EXPECT_EQ(printable(text), text.str());
    EXPECT_TRUE(isPrintable(text));
  }
}

TEST(Printable, ControlCharactersAreNumbers) {
  EXPECT_EQ(printable("a\x1B[31mb"), "a\\u{1B}[31mb");
  EXPECT_EQ(printable(StringRef("a\0b", 3)), "a\\u{0}b");
  EXPECT_EQ(printable("a\nb\tc\rd\x7F"), "a\\u{A}b\\u{9}c\\u{D}d\\u{7F}");
  EXPECT_EQ(printable("\xC2\x9B"), "\\u{9B}"); // the control sequence introducer in one character
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\u{202E}b");                          // from right to left
  EXPECT_EQ(printable("\xE2\x80\xA8"), "\\u{2028}"); // line separator
  EXPECT_FALSE(isPrintable("a\n"));
}

TEST(Printable, OtherBytesAreNumbers) {
  EXPECT_EQ(printable("\xFF"), "\\xFF");
  EXPECT_EQ(printable("a\xC3"), "a\\xC3");                 // cut short
  EXPECT_EQ(printable("\xC0\xAF"), "\\xC0\\xAF");          // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xED\\xA0\\x80"); // half of a surrogate pair
}

TEST(Printable, LinesKeepLineFeedsAndTabs) { EXPECT_EQ(printableLines("a\n\tb\r\n"), "a\n\tb\\u{D}\n"); }

TEST(Printable, LinesOfMessagesAreIndented) {
  EXPECT_EQ(messageText("one"), "one");
  EXPECT_EQ(messageText("one\ntwo\n\nfour"), "one\n  two\n  \n  four");
}

TEST(Printable, ControlCharactersAreFound) {
  EXPECT_EQ(findControlCharacter("a\n\t\r ü"), StringRef::npos);
  EXPECT_EQ(findControlCharacter("ab\x1B"), 2u);
  EXPECT_EQ(findControlCharacter("ü\xC2\x85"), 2u);
  EXPECT_EQ(findControlCharacter("ab\xE2\x80\xAE"), 2u);
  EXPECT_EQ(findControlCharacter("a\xE2\x80\x8D"
                                 "b"),
            StringRef::npos);                               // joins the parts of a sign
  EXPECT_EQ(findControlCharacter("\xFF"), StringRef::npos); // no character at all
}

TEST(Printable, StreamsJoinCharactersInParts) {
  std::string text;
  llvm::raw_string_ostream target(text);
  {
    PrintableStream stream(target);
    for (char c : StringRef("ü\t∂\x1B\n"))
      stream << c;
    stream << "x\xE2\x88"; // and no more
  }
  EXPECT_EQ(text, "ü\t∂\\u{1B}\nx\\xE2\\x88");
}
