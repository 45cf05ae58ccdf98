// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/Nesting.h"

#include "adjoint/Support/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

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

static UnreadableText tooManyBrackets(const char *at) {
  return {at, "expected brackets that are nested at most " + std::to_string(kMaxNesting) + " deep"};
}

static bool isArrowOrComparison(llvm::StringRef two) { return two == "->" || two == ">=" || two == "<="; }

// The letters of a word at the start of the text.
static size_t countLetters(llvm::StringRef text) {
  return text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).size();
}

// Affine expressions are in maps and sets, and as indices of operations: operators without a comma or a
// bracket of another kind between them are of one expression.
static const char *findLongExpression(llvm::StringRef text) {
  size_t operators = 0;
  for (size_t at = 0; at < text.size();) {
    if (size_t end = skipQuoted(text, at); end != at) {
      at = end;
      continue;
    }
    llvm::StringRef rest = text.substr(at);
    if (isArrowOrComparison(rest.take_front(2))) {
      at += 2;
      continue;
    }
    size_t letters = countLetters(rest);
    llvm::StringRef word = rest.take_front(letters);
    bool isOperator =
        word == "mod" || word == "floordiv" || word == "ceildiv" || llvm::StringRef("+-*").contains(text[at]);
    if (llvm::StringRef(",:=;[]{}").contains(text[at]))
      operators = 0;
    if (isOperator && ++operators > kMaxAffineOperators)
      return text.data() + at;
    at += std::max<size_t>(letters, 1);
  }
  return nullptr;
}

std::optional<UnreadableText> mlir::ad::findTooDeep(llvm::StringRef text) {
  llvm::SmallVector<char> open;
  size_t at = 0;
  while ((at = text.find_first_of("([{<)]}>\"/-", at)) != llvm::StringRef::npos) {
    if (size_t end = skipQuoted(text, at); end != at) {
      at = end;
      continue;
    }
    if (isArrowOrComparison(text.substr(at, 2))) {
      at += 2;
      continue;
    }
    if (kOpening.contains(text[at])) {
      open.push_back(text[at]);
      if (open.size() > kMaxNesting)
        return tooManyBrackets(text.data() + at);
    } else if (size_t kind = kClosing.find(text[at]); kind != llvm::StringRef::npos) {
      close(open, kOpening[kind]);
    }
    ++at;
  }
  if (const char *place = findLongExpression(text))
    return UnreadableText{place, "expected affine expressions of at most " +
                                     std::to_string(kMaxAffineOperators) + " operators"};
  return std::nullopt;
}

// A text in bytecode ends with a null, and short ones are nested too little.
static std::optional<UnreadableText> findTooDeepInBytecode(llvm::StringRef bytecode) {
  auto isOfText = [](char c) { return llvm::isPrint(c) || llvm::isSpace(c); };
  for (llvm::StringRef rest = bytecode; !rest.empty();) {
    llvm::StringRef text = rest.take_while(isOfText);
    if (text.size() > kMaxNesting)
      if (std::optional<UnreadableText> deep = findTooDeep(text))
        return deep;
    rest = rest.drop_front(text.size()).drop_until(isOfText);
  }
  return std::nullopt;
}

std::optional<UnreadableText> mlir::ad::findUnreadable(llvm::StringRef module) {
  if (module.starts_with(kBytecode))
    return findTooDeepInBytecode(module);
  if (size_t at = findControlCharacter(module); at != llvm::StringRef::npos)
    return UnreadableText{module.data() + at,
                          "unexpected control character; a string has each of its bytes as a "
                          "backslash and two hexadecimal digits"};
  return findTooDeep(module);
}

// The number of entries that begin in one line, each inside of the one before: `- - ? x`. `line` is what
// follows.
static size_t takeEntries(llvm::StringRef &line) {
  size_t count = 0;
  for (line = line.ltrim(); !line.empty() && llvm::StringRef("-?:").contains(line.front()); ++count) {
    llvm::StringRef rest = line.drop_front();
    if (!rest.empty() && !llvm::isSpace(rest.front()))
      break;
    line = rest.ltrim();
  }
  return count;
}

// Quotation marks of YAML differ, and comments begin with `#`: brackets in them count, of which there are
// few.
std::optional<UnreadableText> mlir::ad::findTooDeepInYAML(llvm::StringRef text) {
  size_t brackets = 0;
  for (const char &c : text) {
    brackets += c == '[' || c == '{';
    brackets -= brackets > 0 && (c == ']' || c == '}');
    if (brackets > kMaxNesting)
      return tooManyBrackets(&c);
  }
  size_t entries = 0; // LLVM's parser reads the entry after an empty one as its value
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    llvm::StringRef rest = line;
    entries += takeEntries(rest);
    if (entries > kMaxNesting)
      return UnreadableText{line.data(), "expected entries that are nested at most " +
                                             std::to_string(kMaxNesting) + " deep"};
    if (!rest.empty())
      entries = 0;
  }
  return std::nullopt;
}
