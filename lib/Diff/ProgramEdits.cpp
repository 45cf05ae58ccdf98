// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The statements of two programs side by side, by their longest common subsequence: once by their texts, once
// by their texts without names. The way with fewer edits counts.
#include "adjoint/Diff/ProgramEdits.h"
#include "ProgramText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace mlir::ad::diff;
using llvm::StringRef;

namespace {

using Statements = std::vector<ParsedStatement>;
/// Numbers of statements; -1 where the other program has none.
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

/// Above this, statements between the common begin and the common end are paired in their order.
constexpr int64_t maxCells = int64_t(1) << 24;

class StatementAlignment {
public:
  StatementAlignment(const Statements &left, const Statements &right, std::string ParsedStatement::*key)
      : left(left), right(right), key(key) {}
  Pairs run();

private:
  bool isSame(int64_t l, int64_t r) const {
    return left[static_cast<size_t>(l)].*key == right[static_cast<size_t>(r)].*key;
  }
  void alignMiddle(int64_t leftEnd, int64_t rightEnd);
  /// Statements that are not the same: those with the same results first, then in their order.
  void addOthers(int64_t leftEnd, int64_t rightEnd);

  const Statements &left, &right;
  std::string ParsedStatement::*key;
  Pairs pairs;
  int64_t l = 0, r = 0; // the next statements
};

void StatementAlignment::addOthers(int64_t leftEnd, int64_t rightEnd) {
  auto isPair = [&](int64_t a, int64_t b) {
    const ParsedStatement &one = left[static_cast<size_t>(a)], &other = right[static_cast<size_t>(b)];
    bool haveResults = !one.names.empty() && one.defines[0] && !other.names.empty() && other.defines[0];
    return haveResults && one.names[0] == other.names[0];
  };
  while (l < leftEnd || r < rightEnd) {
    int64_t found = r;
    while (l < leftEnd && found < rightEnd && !isPair(l, found))
      ++found;
    bool isFound = l < leftEnd && found < rightEnd;
    for (; isFound && r < found; ++r)
      pairs.push_back({-1, r});
    // Where as many are left on both sides, an operation has become another one.
    bool isNext = isFound || leftEnd - l == rightEnd - r;
    bool takesLeft = l < leftEnd, takesRight = r < rightEnd && (isNext || !takesLeft);
    pairs.push_back({takesLeft ? l : -1, takesRight ? r : -1});
    l += takesLeft;
    r += takesRight;
  }
}

void StatementAlignment::alignMiddle(int64_t leftEnd, int64_t rightEnd) {
  int64_t rows = leftEnd - l, columns = rightEnd - r, firstLeft = l, firstRight = r;
  if (rows == 0 || columns == 0 || rows > maxCells / columns)
    return addOthers(leftEnd, rightEnd);
  std::vector<int32_t> length(static_cast<size_t>((rows + 1) * (columns + 1)), 0);
  auto at = [&](int64_t i, int64_t j) -> int32_t & {
    return length[static_cast<size_t>(i * (columns + 1) + j)];
  };
  for (int64_t i = rows; i-- > 0;)
    for (int64_t j = columns; j-- > 0;)
      at(i, j) =
          isSame(firstLeft + i, firstRight + j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  int64_t i = 0, j = 0;
  while (i < rows && j < columns)
    if (isSame(firstLeft + i, firstRight + j)) {
      addOthers(firstLeft + i, firstRight + j);
      pairs.push_back({l++, r++});
      ++i;
      ++j;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  addOthers(leftEnd, rightEnd);
}

Pairs StatementAlignment::run() {
  auto leftEnd = static_cast<int64_t>(left.size()), rightEnd = static_cast<int64_t>(right.size());
  for (; l < leftEnd && r < rightEnd && isSame(l, r); ++l, ++r)
    pairs.push_back({l, r});
  int64_t common = 0;
  while (leftEnd - common > l && rightEnd - common > r && isSame(leftEnd - common - 1, rightEnd - common - 1))
    ++common;
  alignMiddle(leftEnd - common, rightEnd - common);
  for (; common > 0; --common)
    pairs.push_back({l++, r++});
  return std::move(pairs);
}

/// Follows which name of the one program is which of the other.
class Names {
public:
  /// Whether both statements read the same values, if their texts are equal but for names. Notes what they
  /// define.
  bool readSame(const ParsedStatement &left, const ParsedStatement &right);
  void define(const ParsedStatement &left, const ParsedStatement &right);

private:
  llvm::StringMap<std::string> rightOf;
};

bool Names::readSame(const ParsedStatement &left, const ParsedStatement &right) {
  if (left.isFunction)
    rightOf.clear();
  bool same = left.anonymous == right.anonymous && left.defines == right.defines;
  for (size_t i = 0; same && i < left.names.size(); ++i)
    if (!left.defines[i]) {
      auto known = rightOf.find(left.names[i]);
      same = (known == rightOf.end() ? left.names[i] : known->second) == right.names[i];
    }
  define(left, right);
  return same;
}

void Names::define(const ParsedStatement &left, const ParsedStatement &right) {
  for (size_t i = 0; i < std::min(left.names.size(), right.names.size()); ++i)
    if (left.defines[i] && right.defines[i])
      rightOf[left.names[i]] = right.names[i];
}

std::optional<Statement> statementAt(const Statements &statements, int64_t number) {
  return number < 0 ? std::nullopt : std::optional<Statement>(statements[static_cast<size_t>(number)]);
}

std::vector<ProgramEdit> editsOf(const Statements &left, const Statements &right,
                                 std::string ParsedStatement::*key) {
  std::vector<ProgramEdit> edits;
  Names names;
  for (auto [l, r] : StatementAlignment(left, right, key).run()) {
    if (l >= 0 && r >= 0 && names.readSame(left[static_cast<size_t>(l)], right[static_cast<size_t>(r)]))
      continue;
    ProgramEdit edit{statementAt(left, l), statementAt(right, r)};
    bool isOfOperation =
        (edit.left && !edit.left->operation.empty()) || (edit.right && !edit.right->operation.empty());
    if (isOfOperation)
      edits.push_back(std::move(edit));
  }
  return edits;
}

} // namespace

std::vector<ProgramEdit> mlir::ad::diff::findEdits(StringRef left, StringRef leftName, StringRef right,
                                                   StringRef rightName) {
  Statements l = parseStatements(left, leftName), r = parseStatements(right, rightName);
  std::vector<ProgramEdit> byText = editsOf(l, r, &ParsedStatement::text);
  std::vector<ProgramEdit> withoutNames = editsOf(l, r, &ParsedStatement::anonymous);
  return withoutNames.size() < byText.size() ? withoutNames : byText;
}

bool mlir::ad::diff::computes(const std::optional<Statement> &statement, const Record &record) {
  if (!statement || statement->operation.empty())
    return false;
  size_t at = StringRef(record.location).find(statement->location);
  if (at == StringRef::npos)
    return false;
  StringRef after = StringRef(record.location).substr(at + statement->location.size());
  return after.empty() || !llvm::isDigit(after.front());
}

std::string mlir::ad::diff::editText(const ProgramEdit &edit) {
  auto side = [](const Statement &statement) { return statement.operation + " at " + statement.location; };
  if (!edit.right)
    return side(*edit.left) + ", only left";
  if (!edit.left)
    return side(*edit.right) + ", only right";
  return side(*edit.left) + ", " + side(*edit.right);
}

std::string mlir::ad::diff::editsText(llvm::ArrayRef<ProgramEdit> edits) {
  constexpr size_t shown = 5, maxLength = 100;
  std::string text;
  auto line = [&](char sign, const std::optional<Statement> &statement) {
    if (statement)
      text += std::string("  ") + sign + " " + StringRef(statement->text).take_front(maxLength).str() +
              (statement->text.size() > maxLength ? "…" : "") + "\n";
  };
  for (const ProgramEdit &edit : edits.take_front(shown)) {
    text += "edited operation: " + editText(edit) + "\n";
    line('-', edit.left);
    line('+', edit.right);
  }
  if (edits.size() > shown)
    text += "… " + std::to_string(edits.size() - shown) + " more edited operations\n";
  return text;
}

llvm::json::Array mlir::ad::diff::editsToJSON(llvm::ArrayRef<ProgramEdit> edits) {
  auto side = [](const std::optional<Statement> &statement) -> llvm::json::Value {
    if (!statement)
      return nullptr;
    return llvm::json::Object{{"operation", statement->operation},
                              {"location", statement->location},
                              {"text", llvm::json::fixUTF8(statement->text)}};
  };
  llvm::json::Array array;
  for (const ProgramEdit &edit : edits)
    array.push_back(llvm::json::Object{{"left", side(edit.left)}, {"right", side(edit.right)}});
  return array;
}
