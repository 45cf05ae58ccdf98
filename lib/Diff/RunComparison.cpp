// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two traces value by value, and what else differs between them.
#include "adjoint/Diff/RunComparison.h"
#include "RunFiles.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/RunMatching.h"
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Diff/TensorFile.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Expected;
using llvm::StringRef;

namespace {

using Records = std::vector<Record>;

/// A pair of values whose bits differ.
struct Difference {
  const Record *left, *right;
  ValueMatch by;
  bool isGuess;                ///< that they are the same value; a guess decides nothing
  std::optional<MaxDiff> diff; ///< of kept tensors of one shape
};

std::string typeText(const Record &record) {
  std::string sizes;
  if (record.shape)
    for (const Dim &dim : *record.shape)
      sizes += (sizes.empty() ? "" : "x") + (dim.symbol.empty() ? std::to_string(dim.size) : dim.symbol);
  return record.dtype + (sizes.empty() ? "" : " " + sizes);
}

std::string valueText(const Record &record) {
  std::string text = record.kind + " " + record.name;
  if (!record.op.empty())
    text += " of " + record.op;
  if (record.run > 0)
    text += ", run " + std::to_string(record.run);
  return record.location.empty() ? text : text + ", " + record.location;
}

std::optional<adrt_type> typeOf(const Record &record) {
  for (int type = ADRT_F64; type <= ADRT_I64; ++type)
    if (record.dtype == dtypeName(static_cast<adrt_type>(type)))
      return static_cast<adrt_type>(type);
  return std::nullopt;
}

class RunsReport {
public:
  RunsReport(const std::optional<Bound> &bound, llvm::ArrayRef<double> thresholds)
      : bound(bound), thresholds(thresholds) {}
  Expected<DiffReport> run(StringRef leftPath, StringRef rightPath);

private:
  llvm::Error compare();
  Expected<std::optional<MaxDiff>> compareTensors(const Record &left, const Record &right) const;
  void addText();
  void addCounts();
  void addFirst();
  void addMissingTensors();
  void checkBound();
  Table makeTable(size_t limit) const;
  llvm::json::Object toJSON() const;

  const std::optional<Bound> &bound;
  llvm::ArrayRef<double> thresholds;
  Records left, right;
  RunMatching matching;
  std::vector<Difference> differences;
  size_t guesses = 0;             ///< of the differences
  std::vector<std::string> about; ///< how the runs differ apart from values
  DiffReport report;
};

Expected<std::optional<MaxDiff>> RunsReport::compareTensors(const Record &l, const Record &r) const {
  if (l.value.empty() || r.value.empty() || l.shape != r.shape)
    return std::nullopt;
  Expected<TensorFile> expected = TensorFile::open(l.value, typeOf(l));
  if (!expected)
    return expected.takeError();
  Expected<TensorFile> got = TensorFile::open(r.value, typeOf(r));
  if (!got)
    return got.takeError();
  Expected<MaxDiff> diff = compareFiles(*expected, *got, thresholds);
  if (!diff)
    return diff.takeError();
  return std::optional<MaxDiff>(std::move(*diff));
}

llvm::Error RunsReport::compare() {
  for (const MatchedValues &pair : matching.pairs) {
    const Record &l = left[pair.left], &r = right[pair.right];
    if (haveSameBits(l, r))
      continue;
    Expected<std::optional<MaxDiff>> diff = compareTensors(l, r);
    if (!diff)
      return diff.takeError();
    differences.push_back({&l, &r, pair.by, pair.isGuess, std::move(*diff)});
    guesses += pair.isGuess;
  }
  return llvm::Error::success();
}

Table RunsReport::makeTable(size_t limit) const {
  Table table;
  table.header = {"kind", "name", "op",  "run", "left",   "right", "abs",
                  "rel",  "l2",   "max", "ulp", "origin", "pair"};
  for (const Difference &difference : llvm::ArrayRef(differences).take_front(limit)) {
    const Record &l = *difference.left, &r = *difference.right;
    bool sameType = typeText(l) == typeText(r);
    auto side = [&](const Record &record) {
      return (sameType ? "" : typeText(record) + " ") + record.summary +
             (record.hash.empty() ? "" : " " + record.hash.substr(0, 8));
    };
    const std::optional<MaxDiff> &diff = difference.diff;
    table.rows.push_back({l.kind, l.name, l.op == r.op ? l.op : l.op + ", " + r.op, std::to_string(l.run),
                          side(l), side(r), diff ? pythonNumber(diff->abs) : "",
                          diff ? pythonNumber(diff->rel) : "", diff ? pythonNumber(diff->l2) : "",
                          diff ? pythonNumber(diff->max) : "", diff ? ulpText(*diff) : "",
                          l.origin.empty() ? r.origin : l.origin, difference.isGuess ? "guess" : ""});
    table.rowClasses.push_back(bound && diff && !difference.isGuess && !isWithin(*diff, *bound) ? "fail"
                                                                                                : "");
  }
  return table;
}

void RunsReport::addCounts() {
  size_t count[3] = {};
  for (const MatchedValues &pair : matching.pairs)
    ++count[static_cast<size_t>(pair.by)];
  report.text += std::to_string(left.size()) + " and " + countText(right.size(), "value") + ", " +
                 countText(matching.pairs.size(), "pair") + ": " + std::to_string(count[0]) + " by name, " +
                 std::to_string(count[1]) + " as the last of a name, " + std::to_string(count[2]) +
                 " by value; " + std::to_string(matching.pairs.size() - differences.size()) + " equal, " +
                 std::to_string(differences.size() - guesses) + " different, " +
                 (guesses > 0 ? std::to_string(guesses) + " guessed, " : "") +
                 std::to_string(matching.onlyLeft.size()) + " only left, " +
                 std::to_string(matching.onlyRight.size()) + " only right\n";
}

// An input that differs explains all others.
void RunsReport::addFirst() {
  auto find = [&](bool isInput) {
    return llvm::find_if(differences, [&](const Difference &difference) {
      bool isOfInput = difference.left->kind == "INPUT" || difference.left->kind == "INITIA";
      return isOfInput == isInput && !difference.isGuess;
    });
  };
  if (auto input = find(true); input != differences.end())
    report.warnings.push_back("the runs have other inputs or constants, which explains other results: " +
                              valueText(*input->left));
  auto first = find(false);
  if (first == differences.end())
    return;
  report.text += "first difference: " + valueText(*first->left) + ", " + typeText(*first->left) +
                 ": fingerprints " + first->left->summary + " and " + first->right->summary;
  if (first->left->hash != first->right->hash)
    report.text += ", hashes " + first->left->hash + " and " + first->right->hash;
  if (first->diff)
    report.text += "; " + stringDiff(*first->diff) + measuresText(*first->diff);
  report.text += "\n";
}

void RunsReport::addMissingTensors() {
  constexpr size_t named = 3;
  std::vector<std::string> names;
  size_t count = 0;
  for (const Difference &difference : differences)
    if (!difference.isGuess && !difference.diff && difference.left->shape == difference.right->shape) {
      ++count;
      std::string name = StringRef(difference.left->name).split('(').first.str();
      if (names.size() < named && !llvm::is_contained(names, name))
        names.push_back(name);
    }
  if (count > 0)
    report.text += std::to_string(count) + " of the different values " +
                   (count == 1 ? "has no tensor" : "have no tensors") + "; to see how far apart they are, " +
                   "trace both runs again with --trace-tensors " + llvm::join(names, ",") + ", or all\n";
}

void RunsReport::checkBound() {
  if (!bound)
    return;
  if (bound->different)
    report.boundHolds &= static_cast<double>(differences.size() - guesses) <= *bound->different;
  for (const Difference &difference : differences) {
    if (!bound->needsTensors())
      break;
    if (difference.isGuess)
      continue;
    if (!difference.diff) {
      report.boundHolds = false;
      bool sameType = typeText(*difference.left) == typeText(*difference.right);
      report.errors.push_back("the bound " + bound->text +
                              (sameType ? " needs tensors of '" + difference.left->name + "' in both traces"
                                        : " is one of values of one type, but '" + difference.left->name +
                                              "' is " + typeText(*difference.left) + " in one trace and " +
                                              typeText(*difference.right) + " in the other"));
      return; // whether it holds is not known
    }
    report.boundHolds &= isWithin(*difference.diff, *bound);
  }
  report.text += "bound " + bound->text + (report.boundHolds ? " holds\n" : " does not hold\n");
}

void RunsReport::addText() {
  constexpr size_t shownRows = 20;
  for (const std::string &line : about)
    report.tableText += line + "\n";
  if (!differences.empty())
    report.tableText += makeTable(shownRows).toText();
  if (differences.size() > shownRows)
    report.tableText += "… " + std::to_string(differences.size() - shownRows) + " more; --csv has all\n";
  addCounts();
  addFirst();
  addMissingTensors();
}

llvm::json::Object RunsReport::toJSON() const {
  static constexpr StringRef ways[] = {"name", "last of a name", "value"};
  llvm::json::Array values, onlyLeft, onlyRight;
  for (const Difference &difference : differences) {
    llvm::json::Object value{
        {"name", difference.left->name},
        {"kind", difference.left->kind},
        {"op", difference.left->op},
        {"run", static_cast<int64_t>(difference.left->run)},
        {"location", difference.left->location},
        {"by", ways[static_cast<size_t>(difference.by)]},
        {"guess", difference.isGuess},
        {"hashes", llvm::json::Array{difference.left->hash, difference.right->hash}},
        {"fingerprints", llvm::json::Array{difference.left->summary, difference.right->summary}}};
    if (difference.diff) {
      value["abs"] = jsonNumber(difference.diff->abs);
      value["rel"] = jsonNumber(difference.diff->rel);
      addNorms(value, *difference.diff);
      if (difference.diff->ulp)
        value["ulp"] = ulpText(*difference.diff);
    }
    values.push_back(std::move(value));
  }
  for (size_t number : matching.onlyLeft)
    onlyLeft.push_back(valueText(left[number]));
  for (size_t number : matching.onlyRight)
    onlyRight.push_back(valueText(right[number]));
  llvm::json::Object object{{"pairs", static_cast<int64_t>(matching.pairs.size())},
                            {"different", std::move(values)},
                            {"only_left", std::move(onlyLeft)},
                            {"only_right", std::move(onlyRight)},
                            {"runs", llvm::json::Array(about)}};
  if (bound)
    object["bound"] = bound->text;
  return object;
}

Expected<DiffReport> RunsReport::run(StringRef leftPath, StringRef rightPath) {
  for (auto [records, path] : {std::pair(&left, leftPath), {&right, rightPath}})
    if (llvm::Error error = readRecords(path).moveInto(*records))
      return std::move(error);
  if (llvm::Error error = compareRunFiles(leftPath, rightPath).moveInto(about))
    return std::move(error);
  matching = matchRuns(left, right);
  if (llvm::Error error = compare())
    return std::move(error);
  report.title = (leftPath + " and " + rightPath).str();
  addText();
  checkBound();
  std::vector<std::string> relBlind;
  for (const Difference &difference : differences)
    if (!difference.isGuess && difference.diff && difference.diff->isRelBlind())
      relBlind.push_back(difference.left->name);
  warnOfBlindRel(report, relBlind);
  report.json = toJSON();
  report.table = makeTable(differences.size());
  return std::move(report);
}

} // namespace

Expected<DiffReport> mlir::ad::diff::compareRuns(StringRef left, StringRef right,
                                                 const std::optional<Bound> &bound,
                                                 llvm::ArrayRef<double> thresholds) {
  return RunsReport(bound, thresholds).run(left, right);
}
