// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tables and pages.
#include "adjoint/Diff/Table.h"
#include "adjoint/Support/Printable.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace mlir::ad;
using namespace mlir::ad::diff;
using llvm::StringRef;

namespace {

constexpr StringRef style = R"(body { font-family: sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 }
th, td { border: 1px solid #ccc; padding: 2px 8px; text-align: left; font: 13px monospace; white-space: pre }
th { background: #eee }
pre { background: #f6f6f6; padding: 8px; overflow-x: auto }
.fail, .different { background: #ffe0c0 }
.left { background: #ffd7d7 }
.right { background: #d7ffd7 }
)";

/// Columns of a terminal: bytes that continue a character of UTF-8 take none.
size_t columnsOf(StringRef text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string cellOfCSV(StringRef text) {
  if (text.find_first_of(",\"\n\r") == StringRef::npos)
    return text.str();
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"')
      quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string rowOfHTML(const std::vector<std::string> &cells, StringRef tag, StringRef rowClass) {
  std::string text = rowClass.empty() ? "<tr>" : ("<tr class=\"" + rowClass + "\">").str();
  for (const std::string &cell : cells)
    text += ("<" + tag + ">" + escapeMarkup(cell) + "</" + tag + ">").str();
  return text + "</tr>\n";
}

} // namespace

std::string Table::toText() const {
  std::vector<std::vector<std::string>> lines;
  std::vector<size_t> widths(header.size());
  auto add = [&](const std::vector<std::string> &cells) {
    std::vector<std::string> &line = lines.emplace_back();
    for (size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], columnsOf(line.emplace_back(printable(cells[i]))));
  };
  add(header);
  std::for_each(rows.begin(), rows.end(), add);
  std::string text;
  for (const std::vector<std::string> &cells : lines) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i)
      line += cells[i] + std::string(widths[i] - columnsOf(cells[i]) + 2, ' ');
    text += StringRef(line).rtrim(' ').str() + "\n";
  }
  return text;
}

std::string Table::toCSV() const {
  std::string text;
  auto write = [&](const std::vector<std::string> &cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      text += (i ? "," : "") + cellOfCSV(cells[i]);
    text += "\n";
  };
  write(header);
  std::for_each(rows.begin(), rows.end(), write);
  return text;
}

std::string Table::toHTML() const {
  std::string text = "<table>\n" + rowOfHTML(header, "th", "");
  for (size_t i = 0; i < rows.size(); ++i)
    text += rowOfHTML(rows[i], "td", i < rowClasses.size() ? rowClasses[i] : "");
  return text + "</table>\n";
}

std::string mlir::ad::diff::escapeMarkup(StringRef text) {
  std::string escaped;
  for (char c : printableLines(text)) {
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      escaped += c;
    }
  }
  return escaped;
}

std::string mlir::ad::diff::htmlPage(StringRef title, StringRef body) {
  std::string escaped = escapeMarkup(title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + escaped +
         "</title>\n<style>\n" + style.str() + "</style>\n</head>\n<body>\n<h1>" + escaped + "</h1>\n" +
         body.str() + "</body>\n</html>\n";
}
