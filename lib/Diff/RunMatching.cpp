// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Matches the values of two traced runs.
#include "adjoint/Diff/RunMatching.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

using namespace mlir::ad::diff;

namespace {

using Key = std::function<std::string(const Record &)>;
using Numbers = std::vector<size_t>;

std::string shapeKey(const Record &record) {
  std::string text = record.dtype;
  if (!record.shape)
    return text + " ?";
  for (const Dim &dim : *record.shape)
    text += "x" + (dim.symbol.empty() ? std::to_string(dim.size) : dim.symbol);
  return text;
}

/// The name without the number of a further operation of that name, as in `%z(2)`.
llvm::StringRef plainName(const Record &record) { return llvm::StringRef(record.name).split('(').first; }

/// Kind, name and run.
std::string nameKey(const Record &record) {
  return record.kind + "\t" + plainName(record).str() + "\t" + std::to_string(record.run);
}

/// Of values that may have another type or other sizes in the other run, such as those of mixed precision.
/// The parts of an operation and its derivative have its name, so another operation of another type is
/// another value. The compiler names its constants after the operations that need them.
std::string untypedKey(const Record &record) {
  return record.kind == "INITIA" ? std::string() : nameKey(record) + "\t" + record.op;
}

std::string typedKey(const Record &record) { return nameKey(record) + "\t" + shapeKey(record); }
std::string operationKey(const Record &record) { return typedKey(record) + "\t" + record.op; }

std::string valueKey(const Record &record) {
  return record.kind + "\t" + shapeKey(record) + "\t" + (record.hash.empty() ? record.summary : record.hash);
}

std::string namedValueKey(const Record &record) { return nameKey(record) + "\t" + valueKey(record); }

bool mayHaveSameBits(const Record &left, const Record &right) {
  return compareBits(left, right) != Verdict::Different;
}

/// Names of arguments, results and received values are those of the program; the compiler makes others.
bool isInside(const Record &record) { return record.kind == "RESULT" || record.kind == "INITIA"; }

class RunMatcher {
public:
  RunMatcher(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right) : left(left), right(right) {
    for (size_t i = 0; i < left.size(); ++i)
      openLeft.push_back(i);
    for (size_t i = 0; i < right.size(); ++i)
      openRight.push_back(i);
    for (auto [records, names, values] :
         {std::tuple(left, &leftResults, &leftValues), {right, &rightResults, &rightValues}})
      for (const Record &record : records) {
        values->insert(namedValueKey(record));
        if (record.kind == "RESULT")
          names->insert(plainName(record));
      }
  }
  RunMatching run();

private:
  /// Pairs open records of one key: each with each if there are as many in both runs. Otherwise one operation
  /// has become several of its kind, and one pair is made. A record with an empty key has no pair.
  void match(const Key &key, ValueMatch by);
  /// Whether a constant has the name of an operation, which the compiler has given to it.
  bool isOfOperation(size_t leftNumber, size_t rightNumber) const;
  /// Whether values that differ in their order have equal bits in another one: one run has a further
  /// operation of the name, and the other run has another one.
  bool isReordered(llvm::ArrayRef<size_t> l, llvm::ArrayRef<size_t> r) const;
  /// Whether a value of other bits is that of another operation of this name in the other run: an operation
  /// that the compiler turns to another axis gets transpositions of its name.
  bool isMoved(size_t leftNumber, size_t rightNumber) const;
  /// The last records with equal bits, else the last with the last.
  std::pair<size_t, size_t> findPair(llvm::ArrayRef<size_t> l, llvm::ArrayRef<size_t> r) const;

  llvm::ArrayRef<Record> left, right;
  llvm::StringSet<> leftResults, rightResults; ///< names of operations
  llvm::StringSet<> leftValues, rightValues;   ///< values with their names
  Numbers openLeft, openRight;
  RunMatching result;
};

std::pair<size_t, size_t> RunMatcher::findPair(llvm::ArrayRef<size_t> l, llvm::ArrayRef<size_t> r) const {
  for (size_t leftNumber : llvm::reverse(l))
    for (size_t rightNumber : llvm::reverse(r))
      if (mayHaveSameBits(left[leftNumber], right[rightNumber]))
        return {leftNumber, rightNumber};
  return {l.back(), r.back()};
}

bool RunMatcher::isOfOperation(size_t leftNumber, size_t rightNumber) const {
  return left[leftNumber].kind == "INITIA" && (leftResults.contains(plainName(left[leftNumber])) ||
                                               rightResults.contains(plainName(right[rightNumber])));
}

bool RunMatcher::isReordered(llvm::ArrayRef<size_t> l, llvm::ArrayRef<size_t> r) const {
  llvm::StringSet<> leftValues, rightValues;
  for (auto [numbers, records, values] : {std::tuple(l, left, &leftValues), {r, right, &rightValues}})
    for (size_t number : numbers)
      values->insert(valueKey(records[number]));
  return llvm::any_of(llvm::zip_equal(l, r), [&](auto pair) {
    auto [leftNumber, rightNumber] = pair;
    return !mayHaveSameBits(left[leftNumber], right[rightNumber]) &&
           (rightValues.contains(valueKey(left[leftNumber])) ||
            leftValues.contains(valueKey(right[rightNumber])));
  });
}

bool RunMatcher::isMoved(size_t leftNumber, size_t rightNumber) const {
  const Record &l = left[leftNumber], &r = right[rightNumber];
  return !mayHaveSameBits(l, r) &&
         (rightValues.contains(namedValueKey(l)) || leftValues.contains(namedValueKey(r)));
}

void RunMatcher::match(const Key &key, ValueMatch by) {
  bool onlyLast = by == ValueMatch::LastNamed;
  llvm::StringMap<std::pair<Numbers, Numbers>> groups;
  for (size_t number : openLeft)
    groups[key(left[number])].first.push_back(number);
  for (size_t number : openRight)
    groups[key(right[number])].second.push_back(number);
  std::vector<bool> leftUsed(left.size()), rightUsed(right.size());
  for (auto &group : groups) {
    auto &[l, r] = group.second;
    if (group.first().empty() || l.empty() || r.empty())
      continue;
    bool isChosen = by == ValueMatch::Name && l.size() != r.size();
    if (onlyLast || isChosen) {
      auto [leftNumber, rightNumber] = findPair(l, r);
      l = {leftNumber};
      r = {rightNumber};
    }
    bool isUnsure = onlyLast || isChosen || (by == ValueMatch::Name && isReordered(l, r));
    for (auto [leftNumber, rightNumber] : llvm::zip_first(llvm::ArrayRef(l).take_front(r.size()), r)) {
      if (!isUnsure && by == ValueMatch::Name && isMoved(leftNumber, rightNumber))
        continue;
      bool isGuess = by == ValueMatch::Value ? left[leftNumber].hash.empty()
                                             : isUnsure || isOfOperation(leftNumber, rightNumber);
      result.pairs.push_back({leftNumber, rightNumber, by, isGuess && isInside(left[leftNumber])});
      leftUsed[leftNumber] = rightUsed[rightNumber] = true;
    }
  }
  llvm::erase_if(openLeft, [&](size_t number) { return leftUsed[number]; });
  llvm::erase_if(openRight, [&](size_t number) { return rightUsed[number]; });
}

RunMatching RunMatcher::run() {
  match(operationKey, ValueMatch::Name);
  match(typedKey, ValueMatch::LastNamed);
  match(untypedKey, ValueMatch::LastNamed);
  match(valueKey, ValueMatch::Value);
  llvm::sort(result.pairs, [](const MatchedValues &a, const MatchedValues &b) { return a.left < b.left; });
  result.onlyLeft = std::move(openLeft);
  result.onlyRight = std::move(openRight);
  return std::move(result);
}

} // namespace

RunMatching mlir::ad::diff::matchRuns(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right) {
  return RunMatcher(left, right).run();
}
