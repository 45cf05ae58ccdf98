// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/Nesting.h"

#include "llvm/Support/FileSystem.h"
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
