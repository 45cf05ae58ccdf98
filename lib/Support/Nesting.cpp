// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/Nesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir::ad;

static constexpr llvm::StringRef kOpening = "([{<", kClosing = ")]}>", kBytecode = "ML\xefR";

// The position after a string or a comment that begins at `at`, or `at` itself.
static size_t skipQuoted(llvm::StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (size_t end = at + 1; end < text.size() && text[end] != '\n'; ++end) {
    if (text[end] == '"')
      return end + 1;
    if (text[end] == '\\')
      ++end;
  }
  return at + 1;
}

// `<` and `>` are also parts of arrows and comparisons, so the other closing brackets close any open `<`.
static void close(llvm::SmallVectorImpl<char> &open, char opening) {
  if (opening == '<') {
    if (!open.empty() && open.back() == '<')
      open.pop_back();
    return;
  }
  auto match = llvm::find(llvm::reverse(open), opening);
  if (match != open.rend())
    open.truncate(open.rend() - match - 1);
}

std::string mlir::ad::tooDeepMessage() {
  return "expected brackets that are nested at most " + std::to_string(kMaxNesting) + " deep";
}

const char *mlir::ad::findTooDeep(llvm::StringRef text) {
  if (text.starts_with(kBytecode))
    return nullptr;
  llvm::SmallVector<char> open;
  size_t at = 0;
  while ((at = text.find_first_of("([{<)]}>\"/-", at)) != llvm::StringRef::npos) {
    if (size_t end = skipQuoted(text, at); end != at) {
      at = end;
      continue;
    }
    llvm::StringRef two = text.substr(at, 2);
    if (two == "->" || two == ">=" || two == "<=") {
      at += 2;
      continue;
    }
    if (kOpening.contains(text[at])) {
      open.push_back(text[at]);
      if (open.size() > kMaxNesting)
        return text.data() + at;
    } else if (size_t kind = kClosing.find(text[at]); kind != llvm::StringRef::npos) {
      close(open, kOpening[kind]);
    }
    ++at;
  }
  return nullptr;
}
