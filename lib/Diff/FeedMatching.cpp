// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Matches the inputs of two runs.
#include "adjoint/Diff/FeedMatching.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>

using namespace mlir::ad::diff;

namespace {

std::string typeOf(const Record &record) {
  std::string text = record.dtype;
  llvm::StringRef separator = " ";
  if (!record.shape)
    return text + " ?";
  for (const Dim &dim : *record.shape) {
    text += separator.str() + (dim.symbol.empty() ? std::to_string(dim.size) : dim.symbol);
    separator = "x";
  }
  return text;
}

class Matcher {
public:
  Matcher(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right) : left(left), right(right) {
    collect(left, openLeft);
    collect(right, openRight);
  }
  FeedMatching run();

private:
  using Key = std::function<std::string(const Record &)>;
  using Numbers = llvm::SmallVector<size_t>;

  static void collect(llvm::ArrayRef<Record> records, Numbers &numbers) {
    for (size_t i = 0; i < records.size(); ++i)
      if (records[i].kind == "INPUT")
        numbers.push_back(i);
  }
  static size_t count(llvm::ArrayRef<Record> records, const Numbers &numbers, const Key &key,
                      const std::string &wanted) {
    return llvm::count_if(numbers, [&](size_t i) { return key(records[i]) == wanted; });
  }
  void match(size_t leftNumber, size_t rightNumber, MatchedBy by);
  void matchUnique(const Key &key, MatchedBy by);
  void matchByOrder();
  void warnOfMissing(llvm::ArrayRef<Record> records, const Numbers &numbers, llvm::StringRef other);
  void warnOfValues();

  llvm::ArrayRef<Record> left, right;
  Numbers openLeft, openRight;
  FeedMatching result;
};

void Matcher::match(size_t leftNumber, size_t rightNumber, MatchedBy by) {
  result.matches.push_back({leftNumber, rightNumber, by});
  llvm::erase(openLeft, leftNumber);
  llvm::erase(openRight, rightNumber);
}

// What has a key that no other input of its run has.
void Matcher::matchUnique(const Key &key, MatchedBy by) {
  const Numbers leftNumbers = openLeft, rightNumbers = openRight;
  for (size_t l : leftNumbers) {
    std::string wanted = key(left[l]);
    if (count(left, leftNumbers, key, wanted) != 1 || count(right, rightNumbers, key, wanted) != 1)
      continue;
    match(l, *llvm::find_if(rightNumbers, [&](size_t r) { return key(right[r]) == wanted; }), by);
  }
}

void Matcher::matchByOrder() {
  while (!openLeft.empty()) {
    size_t first = openLeft.front();
    std::string type = typeOf(left[first]);
    std::string names;
    for (size_t l : Numbers(openLeft)) {
      auto r = llvm::find_if(openRight, [&](size_t number) { return typeOf(right[number]) == type; });
      if (typeOf(left[l]) != type || r == openRight.end())
        continue;
      names += (names.empty() ? "'" : ", '") + left[l].name + "' with '" + right[*r].name + "'";
      match(l, *r, MatchedBy::Order);
    }
    if (!names.empty())
      result.warnings.push_back("inputs of type " + type + " are ambiguous and matched by their order: " +
                                names + "; give both runs the same names");
    if (!openLeft.empty() && openLeft.front() == first) {
      warnOfMissing(left, {first}, "right");
      openLeft.erase(openLeft.begin());
    }
  }
}

void Matcher::warnOfMissing(llvm::ArrayRef<Record> records, const Numbers &numbers, llvm::StringRef other) {
  for (size_t number : numbers)
    result.warnings.push_back("input '" + records[number].name + "' of type " + typeOf(records[number]) +
                              " has none to match in the " + other.str() + " run");
}

void Matcher::warnOfValues() {
  for (const FeedMatch &match : result.matches) {
    const Record &l = left[match.left], &r = right[match.right];
    if (typeOf(l) != typeOf(r))
      result.warnings.push_back("input '" + l.name + "' is " + typeOf(l) + " in the left run, " + typeOf(r) +
                                " in the right one");
    else if (l.summary != r.summary)
      result.warnings.push_back("input '" + l.name + "' has other values in the right run: fingerprints " +
                                l.summary + " and " + r.summary);
    else if (compareBits(l, r) == Verdict::Different)
      result.warnings.push_back("input '" + l.name + "' has other values in the right run: hashes " + l.hash +
                                " and " + r.hash);
  }
}

FeedMatching Matcher::run() {
  matchUnique([](const Record &record) { return record.name; }, MatchedBy::Name);
  matchUnique([](const Record &record) { return typeOf(record) + " " + record.summary; },
              MatchedBy::Fingerprint);
  matchUnique(typeOf, MatchedBy::Shape);
  matchByOrder();
  warnOfMissing(right, openRight, "left");
  llvm::sort(result.matches, [](const FeedMatch &a, const FeedMatch &b) { return a.left < b.left; });
  warnOfValues();
  return std::move(result);
}

} // namespace

FeedMatching mlir::ad::diff::matchFeeds(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right) {
  return Matcher(left, right).run();
}
