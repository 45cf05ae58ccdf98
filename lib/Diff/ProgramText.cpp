// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Divides the text of a program into statements. A line begins one if an operation does: `%x = ad.op …`,
// `scf.yield …`, `"ad.op"(…)`, a label or a brace. Other lines continue the statement before.
#include "ProgramText.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::ad::diff;
using llvm::StringRef;

namespace {

bool isNameCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; }

/// The line up to a comment; `//` inside of a text is none.
StringRef withoutComment(StringRef line) {
  bool inText = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && inText)
      ++i;
    else if (line[i] == '"')
      inText = !inText;
    else if (!inText && line.substr(i).starts_with("//"))
      return line.take_front(i);
  }
  return line;
}

/// `%a, %b:2 = ` at the begin of a line, or nothing.
StringRef takeResults(StringRef line) {
  StringRef rest = line;
  while (rest.consume_front("%")) {
    rest = rest.drop_while(isNameCharacter);
    if (rest.consume_front(":"))
      rest = rest.drop_while(llvm::isDigit);
    rest = rest.ltrim();
    if (rest.consume_front("="))
      return line.drop_back(rest.ltrim().size());
    if (!rest.consume_front(","))
      break;
    rest = rest.ltrim();
  }
  return line.take_front(0);
}

/// The name of the operation that the text begins with, or nothing.
StringRef takeOperation(StringRef text) {
  text.consume_front("\"");
  StringRef name = text.take_while(isNameCharacter);
  bool isWord = !name.empty() && (llvm::isAlpha(name.front()) || name.front() == '_');
  bool isKnown = name == "return" || name == "module" || name == "func" || name == "call";
  return isWord && (isKnown || name.contains('.')) ? name : StringRef();
}

bool isPunctuation(StringRef line) { return line.starts_with("}") || line.starts_with("^"); }

/// `#map` of `#map = …`, or nothing. Locations are not compared.
StringRef takeAlias(StringRef line) {
  StringRef name = line.take_while([](char c) { return c == '#' || isNameCharacter(c); });
  bool isAlias = line.starts_with("#") && line.drop_front(name.size()).ltrim().starts_with("=");
  return isAlias && !name.starts_with("#loc") ? name : StringRef();
}

/// FILE:LINE:COLUMN of `loc("FILE":LINE:COLUMN)`, or nothing.
std::string writtenLocation(StringRef text) {
  size_t at = text.rfind("loc(\"");
  if (at == StringRef::npos)
    return "";
  auto [file, place] = text.substr(at + StringRef("loc(\"").size()).split("\":");
  place = place.take_while([](char c) { return llvm::isDigit(c) || c == ':'; });
  return place.empty()
             ? ""
             : (file.rsplit('/').second.empty() ? file : file.rsplit('/').second).str() + ":" + place.str();
}

class StatementReader {
public:
  StatementReader(StringRef text, StringRef file) : text(text), file(file) {}
  std::vector<ParsedStatement> read();

private:
  void begin(StringRef line, StringRef content);
  void append(StringRef content);
  static void parseNames(ParsedStatement &statement);

  StringRef text, file;
  unsigned number = 0;
  std::vector<ParsedStatement> statements;
};

void StatementReader::begin(StringRef line, StringRef content) {
  ParsedStatement statement;
  StringRef results = takeResults(content), operation = takeOperation(content.drop_front(results.size()));
  statement.operation = (operation.empty() ? takeAlias(content) : operation).str();
  size_t column = static_cast<size_t>(content.data() - line.data()) + results.size() + 1;
  statement.location = (file + ":" + llvm::Twine(number) + ":" + llvm::Twine(column)).str();
  statement.isFunction = operation.starts_with("func");
  statements.push_back(std::move(statement));
}

// Blanks count as one.
void StatementReader::append(StringRef content) {
  std::string &all = statements.back().text;
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(content, words);
  for (StringRef word : words)
    all += (all.empty() ? "" : " ") + word.str();
}

void StatementReader::parseNames(ParsedStatement &statement) {
  StringRef rest = statement.text;
  bool definesAll = statement.isFunction || rest.starts_with("^");
  const char *endOfResults = rest.data() + takeResults(rest).size();
  while (!rest.empty()) {
    size_t at = std::min(rest.find('%'), rest.size());
    statement.anonymous += rest.take_front(at);
    rest = rest.drop_front(at);
    if (rest.empty())
      break;
    StringRef name = rest.take_front(1 + rest.drop_front().take_while(isNameCharacter).size());
    statement.anonymous += "%";
    rest = rest.drop_front(name.size());
    StringRef after = rest;
    if (after.consume_front(":"))
      after = after.drop_while(llvm::isDigit);
    after = after.ltrim();
    statement.names.push_back(name.str());
    statement.defines.push_back(definesAll || name.data() < endOfResults || after.starts_with("="));
  }
}

std::vector<ParsedStatement> StatementReader::read() {
  for (StringRef line : llvm::split(text, '\n')) {
    ++number;
    StringRef content = withoutComment(line).trim();
    if (content.empty() || content.starts_with("#loc"))
      continue;
    bool begins = isPunctuation(content) || !takeAlias(content).empty() ||
                  !takeOperation(content.drop_front(takeResults(content).size())).empty();
    if (begins || statements.empty())
      begin(line, content);
    append(content);
  }
  for (ParsedStatement &statement : statements) {
    if (std::string written = writtenLocation(statement.text); !written.empty())
      statement.location = written;
    parseNames(statement);
  }
  return std::move(statements);
}

} // namespace

std::vector<ParsedStatement> mlir::ad::diff::parseStatements(StringRef text, StringRef file) {
  return StatementReader(text, file).read();
}
