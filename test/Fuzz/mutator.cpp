// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Mutations of programs by words and lines, in addition to libFuzzer's mutations of bytes. Most mutated
// programs still parse, so that they reach verifiers and passes.
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <random>
#include <string>

using namespace llvm;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {
using Random = std::minstd_rand;

size_t pick(Random &random, size_t count) { return random() % count; }

bool isWordCharacter(char c) { return isAlnum(c) || c == '_' || c == '.' || c == '%' || c == '@'; }

// The words of the text, as substrings.
SmallVector<StringRef> wordsOf(StringRef text) {
  SmallVector<StringRef> words;
  while (!(text = text.drop_until(isWordCharacter)).empty()) {
    words.push_back(text.take_while(isWordCharacter));
    text = text.drop_front(words.back().size());
  }
  return words;
}

std::string replaced(StringRef text, StringRef part, StringRef by) {
  size_t begin = part.data() - text.data();
  return (text.take_front(begin) + by + text.drop_front(begin + part.size())).str();
}

// Replaces a word by another one of the same kind.
std::string replaceWord(StringRef text, Random &random) {
  SmallVector<StringRef> words = wordsOf(text);
  if (words.empty())
    return text.str();
  StringRef old = words[pick(random, words.size())];
  erase_if(words, [&](StringRef word) { return (word[0] == '%') != (old[0] == '%'); });
  return replaced(text, old, words[pick(random, words.size())]);
}

// Replaces a number by a limit of some type or loop, such as 0, -1 or 2^31.
std::string replaceNumber(StringRef text, Random &random) {
  static constexpr StringLiteral edges[] = {"0",
                                            "1",
                                            "-1",
                                            "2",
                                            "3",
                                            "64",
                                            "4097",
                                            "2147483648",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "?",
                                            "1.0e400",
                                            "4294967296"};
  SmallVector<StringRef> numbers = wordsOf(text);
  erase_if(numbers, [](StringRef word) { return !isDigit(word[0]); });
  if (numbers.empty())
    return text.str();
  StringRef word = numbers[pick(random, numbers.size())];
  StringRef digits = word.take_while([](char c) { return isDigit(c); }); // `4` of `4xf32`
  return replaced(text, digits, edges[pick(random, std::size(edges))]);
}

// Removes a line, inserts a copy of another one, or swaps two lines.
std::string changeLines(StringRef text, Random &random) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  size_t at = pick(random, lines.size()), kind = pick(random, 3);
  if (kind == 0)
    lines.erase(lines.begin() + at);
  else if (kind == 1)
    lines.insert(lines.begin() + at, lines[pick(random, lines.size())]);
  else
    std::swap(lines[at], lines[pick(random, lines.size())]);
  return join(lines, "\n");
}

std::string mutate(StringRef text, Random &random) {
  switch (pick(random, 3)) {
  case 0:
    return replaceWord(text, random);
  case 1:
    return replaceNumber(text, random);
  default:
    return changeLines(text, random);
  }
}
} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Random random(seed);
  if (pick(random, 4) == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<const char *>(data), size);
  for (size_t count = 1 + pick(random, 3); count > 0; --count)
    text = mutate(text, random);
  text.resize(std::min(text.size(), maxSize));
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
