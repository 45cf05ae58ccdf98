// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// JSON that is written is the same value when it is read, and steers no terminal (RFC 8259, section 7).
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/Printable.h"
#include "gtest/gtest.h"

using namespace mlir::ad;
namespace json = llvm::json;

/// Every character up to and beyond those that change directions, as UTF-8 of two and three bytes.
static std::string everyCharacter() {
  std::string text;
  for (unsigned c = 1; c < 0x80; ++c)
    text += static_cast<char>(c);
  for (unsigned c = 0x80; c < 0x800; ++c)
    text += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
  for (unsigned c = 0x2000; c < 0x2100; ++c)
    text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
             static_cast<char>(0x80 | (c & 0x3F))};
  return text;
}

TEST(JSONText, ControlCharactersAreEscapes) {
  json::Value value = json::Object{{"a\x7F", "\x1B[31m"}, {"b", json::Array{"\xC2\x9B"}}};
  EXPECT_EQ(jsonLine(value), R"({"a\u007f":"\u001b[31m","b":["\u009b"]})");
  EXPECT_EQ(jsonText("a\xE2\x80\xAE"
                     "b"),
            "\"a\\u202eb\"\n"); // from right to left
}

TEST(JSONText, OtherTextStays) {
  EXPECT_EQ(jsonLine(json::Array{"grüße", "数値", "𝛻"}), R"(["grüße","数値","𝛻"])");
  EXPECT_EQ(jsonText(json::Array{}), "[]\n");
}

TEST(JSONText, IsReadAsItWasWritten) {
  json::Value value = json::Array{everyCharacter(), json::Object{{everyCharacter(), 1}}};
  for (const std::string &text : {jsonText(value), jsonLine(value)}) {
    EXPECT_EQ(findControlCharacter(text), llvm::StringRef::npos);
    llvm::Expected<json::Value> read = parseJSON(text);
    ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(*read, value);
  }
}
