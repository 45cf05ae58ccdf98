// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff align: the records of two runs side by side.
#include "Commands.h"
#include "adjoint/Diff/FeedMatching.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/ProgramEdits.h"

using namespace mlir::ad::diff;
using llvm::Expected;
using llvm::StringRef;

namespace {

using Records = llvm::ArrayRef<Record>;

struct SymbolCount {
  Symbol symbol;
  StringRef name, rowClass;
};

constexpr SymbolCount symbols[] = {{Symbol::Equal, "equal", ""},
                                   {Symbol::Different, "different", "different"},
                                   {Symbol::OnlyLeft, "only_left", "left"},
                                   {Symbol::OnlyRight, "only_right", "right"}};

/// Digits that tell apart distances, which are sums of integers.
std::string distanceText(double distance) {
  constexpr int digits = 15;
  return generalNumber(distance, digits);
}

std::string summaryText(const Alignment &alignment, Records left, Records right) {
  std::string text = std::to_string(left.size()) + " and " + countText(right.size(), "record") + ", " +
                     countText(alignment.pairs.size(), "pair") + ":";
  StringRef separator = " ";
  for (const SymbolCount &entry : symbols) {
    text += separator.str() + std::to_string(alignment.count(entry.symbol)) + " " +
            static_cast<char>(entry.symbol);
    separator = ", ";
  }
  return text + "; distance " + distanceText(alignment.distance) + "\n";
}

Table makeTable(const Alignment &alignment, Records left, Records right) {
  Table table;
  table.header = {"row", "symbol", "distance", "left", "right"};
  size_t row = 0;
  for (const AlignedPair &pair : alignment.pairs) {
    std::string leftText = pair.symbol == Symbol::OnlyRight ? "" : left[pair.left].toText();
    std::string rightText = pair.symbol == Symbol::OnlyLeft ? "" : right[pair.right].toText();
    table.rows.push_back({std::to_string(++row), std::string(1, static_cast<char>(pair.symbol)),
                          distanceText(pair.distance), leftText, rightText});
    for (const SymbolCount &entry : symbols)
      if (entry.symbol == pair.symbol)
        table.rowClasses.push_back(entry.rowClass.str());
  }
  return table;
}

llvm::json::Object toJSON(const Alignment &alignment, const FeedMatching &feeds, Records left,
                          Records right) {
  static constexpr StringRef ways[] = {"name", "fingerprint", "shape", "order"};
  llvm::json::Array pairs, matches;
  for (const AlignedPair &pair : alignment.pairs)
    pairs.push_back(llvm::json::Object{{"left", pair.left},
                                       {"right", pair.right},
                                       {"symbol", std::string(1, static_cast<char>(pair.symbol))},
                                       {"distance", pair.distance}});
  for (const FeedMatch &match : feeds.matches)
    matches.push_back(llvm::json::Object{{"left", left[match.left].name},
                                         {"right", right[match.right].name},
                                         {"by", ways[static_cast<size_t>(match.by)]}});
  llvm::json::Object object{{"distance", alignment.distance},
                            {"left_records", static_cast<int64_t>(left.size())},
                            {"right_records", static_cast<int64_t>(right.size())},
                            {"pairs", std::move(pairs)},
                            {"inputs", std::move(matches)}};
  for (const SymbolCount &entry : symbols)
    object[entry.name] = alignment.count(entry.symbol);
  return object;
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runAlign(const DiffOptions &options) {
  Expected<std::vector<Record>> left = readRecords(options.inputs[0]);
  if (!left)
    return left.takeError();
  Expected<std::vector<Record>> right = readRecords(options.inputs[1]);
  if (!right)
    return right.takeError();
  for (std::vector<Record> *records : {&*left, &*right})
    if (llvm::Error error = hashKeptTensors(*records))
      return std::move(error);
  return alignRecords(*left, *right, options);
}

Expected<DiffReport> mlir::ad::diff::alignRecords(Records left, Records right, const DiffOptions &options) {
  Expected<Alignment> alignment = align(left, right);
  if (!alignment)
    return alignment.takeError();
  Expected<std::string> text = alignmentText(*alignment, left, right, options.column);
  if (!text)
    return text.takeError();
  Expected<std::vector<ProgramEdit>> edits = findEditsOfRuns(options.inputs[0], options.inputs[1]);
  if (!edits)
    return edits.takeError();
  FeedMatching feeds = matchFeeds(left, right);
  DiffReport report;
  report.title = options.inputs[0] + " and " + options.inputs[1];
  report.legend =
      "Each row is a pair of values of the two runs: kind, type, rank and shape, fingerprint, operation, "
      "name. "
      "= equal but for the name; ~ a pair with differences; - only on the left; + only on the right. Without "
      "hashes and tensors, equal fingerprints do not mean equal bits.";
  report.tableText = std::move(*text);
  report.text = summaryText(*alignment, left, right) + editsText(*edits);
  report.json = toJSON(*alignment, feeds, left, right);
  report.json["edits"] = editsToJSON(*edits);
  if (options.bound) {
    report.boundHolds = alignment->distance <= *options.bound->distance;
    report.text += "bound " + options.bound->text + (report.boundHolds ? " holds\n" : " does not hold\n");
    report.json["bound"] = options.bound->text;
  }
  report.table = makeTable(*alignment, left, right);
  report.warnings = std::move(feeds.warnings);
  return report;
}
