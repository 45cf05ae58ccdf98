// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/Nesting.h"
#include "adjoint/Support/Printable.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir::ad;

static llvm::Error tooLong(uint64_t bytes) {
  return llvm::createStringError("expected at most " + std::to_string(kMaxJSONBytes) + " bytes, found " +
                                 std::to_string(bytes));
}

llvm::Expected<llvm::json::Value> mlir::ad::parseJSON(llvm::StringRef text) {
  if (text.size() > kMaxJSONBytes)
    return tooLong(text.size());
  if (std::optional<UnreadableText> deep = findTooDeep(text))
    return llvm::createStringError(deep->message);
  return llvm::json::parse(text);
}

llvm::Expected<llvm::json::Value> mlir::ad::readJSON(llvm::StringRef path) {
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(path, bytes) && bytes > kMaxJSONBytes)
    return tooLong(bytes);
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return llvm::createStringError(text.getError(),
                                   "cannot read '" + path + "': " + text.getError().message());
  return parseJSON((*text)->getBuffer());
}

/// LLVM's printer escapes the control characters of ASCII below the blank only.
static std::string escapeControls(llvm::StringRef json) {
  std::string result;
  llvm::raw_string_ostream os(result);
  while (!json.empty()) {
    size_t at = std::min(findControlCharacter(json), json.size());
    os << json.take_front(at);
    json = json.drop_front(at);
    if (json.empty())
      break;
    const auto *next = reinterpret_cast<const llvm::UTF8 *>(json.begin());
    llvm::UTF32 character = 0;
    llvm::convertUTF8Sequence(&next, reinterpret_cast<const llvm::UTF8 *>(json.end()), &character,
                              llvm::strictConversion);
    os << llvm::format("\\u%04x", character); // none needs more than four digits
    json = json.drop_front(reinterpret_cast<const char *>(next) - json.begin());
  }
  return result;
}

std::string mlir::ad::jsonText(const llvm::json::Value &value) {
  return escapeControls(llvm::formatv("{0:2}\n", value).str());
}

std::string mlir::ad::jsonLine(const llvm::json::Value &value) {
  return escapeControls(llvm::formatv("{0}", value).str());
}
