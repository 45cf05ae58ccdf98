// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two traces value by value, and what else differs between them.
#include "adjoint/Diff/RunComparison.h"
#include "RunFiles.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/ProgramEdits.h"
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

/// A pair of values whose bits are not known to be equal.
struct Difference {
  const Record *left, *right;
  ValueMatch by;
  bool isGuess;                ///< that they are the same value; a guess decides nothing
  bool isUnknown;              ///< whether their bits differ
  std::optional<MaxDiff> diff; ///< of kept tensors of one shape

  /// Whether the values are known to be one, and to differ.
  bool isCertain() const { return !isGuess && !isUnknown; }
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
  void addUnknown();
  void addMissingTensors();
  void checkBound();
  /// Why a bound is not known to hold if nothing is known to be beyond it; empty if it is.
  std::string findUnknown() const;
  bool isBeyondBound() const;
  /// Whether an edit of the programs made both values.
  bool isEdited(const Record &left, const Record &right) const;
  /// The first edit that is not known to change no value.
  const ProgramEdit *findEdit() const;
  Table makeTable(size_t limit) const;
  llvm::json::Object toJSON() const;

  const std::optional<Bound> &bound;
  llvm::ArrayRef<double> thresholds;
  Records left, right;
  RunMatching matching;
  std::vector<Difference> differences;
  std::vector<std::string> about; ///< how the runs differ apart from values
  std::vector<ProgramEdit> edits;
  bool hasOtherOptions = false; ///< or other sources, versions and machines
  DiffReport report;
};

Expected<std::optional<MaxDiff>> RunsReport::compareTensors(const Record &l, const Record &r) const {
  if (l.value.empty() || r.value.empty() || l.shape != r.shape)
    return std::nullopt;
  Expected<TensorFile> expected = TensorFile::open(l.value, elementType(l));
  if (!expected)
    return expected.takeError();
  Expected<TensorFile> got = TensorFile::open(r.value, elementType(r));
  if (!got)
    return got.takeError();
  Expected<MaxDiff> diff = compareFiles(*expected, *got, thresholds);
  if (!diff)
    return diff.takeError();
  return std::optional<MaxDiff>(std::move(*diff));
}

bool RunsReport::isEdited(const Record &l, const Record &r) const {
  return llvm::any_of(
      edits, [&](const ProgramEdit &edit) { return computes(edit.left, l) && computes(edit.right, r); });
}

// What an edited operation computes is one value, although the operations are different.
llvm::Error RunsReport::compare() {
  for (const MatchedValues &pair : matching.pairs) {
    const Record &l = left[pair.left], &r = right[pair.right];
    Verdict verdict = compareBits(l, r);
    if (verdict == Verdict::Equal)
      continue;
    Expected<std::optional<MaxDiff>> diff = compareTensors(l, r);
    if (!diff)
      return diff.takeError();
    differences.push_back(
        {&l, &r, pair.by, pair.isGuess && !isEdited(l, r), verdict == Verdict::Unknown, std::move(*diff)});
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
                          side(l), side(r), diff ? absText(*diff) : "", diff ? pythonNumber(diff->rel) : "",
                          diff ? pythonNumber(diff->l2) : "", diff ? pythonNumber(diff->max) : "",
                          diff ? ulpText(*diff) : "", l.origin.empty() ? r.origin : l.origin,
                          difference.isGuess     ? "guess"
                          : difference.isUnknown ? "unknown"
                                                 : ""});
    table.rowClasses.push_back(bound && diff && !difference.isGuess && !isWithin(*diff, *bound) ? "fail"
                                                                                                : "");
  }
  return table;
}

void RunsReport::addCounts() {
  size_t count[3] = {};
  for (const MatchedValues &pair : matching.pairs)
    ++count[static_cast<size_t>(pair.by)];
  auto number = [&](auto isCounted) { return static_cast<size_t>(llvm::count_if(differences, isCounted)); };
  size_t guessed = number([](const Difference &difference) { return difference.isGuess; });
  size_t certain = number([](const Difference &difference) { return difference.isCertain(); });
  size_t unknown = differences.size() - guessed - certain;
  auto some = [](size_t count, StringRef what) {
    return count > 0 ? std::to_string(count) + " " + what.str() + ", " : std::string();
  };
  report.text += std::to_string(left.size()) + " and " + countText(right.size(), "value") + ", " +
                 countText(matching.pairs.size(), "pair") + ": " + std::to_string(count[0]) + " by name, " +
                 std::to_string(count[1]) + " as the last of a name, " + std::to_string(count[2]) +
                 " by value; " + std::to_string(matching.pairs.size() - differences.size()) + " equal, " +
                 std::to_string(certain) + " different, " + some(unknown, "unknown") +
                 some(guessed, "guessed") + std::to_string(matching.onlyLeft.size()) + " only left, " +
                 std::to_string(matching.onlyRight.size()) + " only right\n";
}

bool isInput(const Difference &difference) {
  return difference.left->kind == "INPUT" || difference.left->kind == "INITIA";
}

// An operation may have become several, of which some have no pair.
const ProgramEdit *RunsReport::findEdit() const {
  auto isAlone = [](const std::optional<Statement> &statement, llvm::ArrayRef<size_t> numbers,
                    const Records &records) {
    return llvm::any_of(numbers, [&](size_t number) { return computes(statement, records[number]); });
  };
  auto changesNothing = [&](const ProgramEdit &edit) {
    size_t equal = 0, pairs = 0;
    for (const MatchedValues &pair : matching.pairs)
      if (computes(edit.left, left[pair.left]) && computes(edit.right, right[pair.right])) {
        ++pairs;
        equal += compareBits(left[pair.left], right[pair.right]) == Verdict::Equal;
      }
    return pairs > 0 && equal == pairs && !isAlone(edit.left, matching.onlyLeft, left) &&
           !isAlone(edit.right, matching.onlyRight, right);
  };
  auto found = llvm::find_if_not(edits, changesNothing);
  return found == edits.end() ? nullptr : &*found;
}

std::string firstText(const Difference &first) {
  std::string text = valueText(*first.left);
  if (first.left->op != first.right->op)
    text += " and " + first.right->op + (first.right->location.empty() ? "" : ", " + first.right->location);
  text +=
      ", " + typeText(*first.left) + ": fingerprints " + first.left->summary + " and " + first.right->summary;
  if (first.left->hash != first.right->hash)
    text += ", hashes " + first.left->hash + " and " + first.right->hash;
  if (first.diff)
    text += "; " + stringDiff(*first.diff) + measuresText(*first.diff);
  return text;
}

// An input that differs explains all others. An edited operation explains those after it, although its own
// value may have no record: the operation is fused, or computes a size.
void RunsReport::addFirst() {
  auto find = [&](bool ofInputs) {
    return llvm::find_if(differences, [&](const Difference &difference) {
      return isInput(difference) == ofInputs && difference.isCertain();
    });
  };
  auto input = find(true), first = find(false);
  if (input != differences.end() && !isEdited(*input->left, *input->right))
    report.warnings.push_back("the runs have other inputs or constants, which explains other results: " +
                              valueText(*input->left));
  report.text += editsText(edits);
  if (first == differences.end())
    return;
  bool isOfEdit = isEdited(*first->left, *first->right);
  const ProgramEdit *edit = isOfEdit || hasOtherOptions ? nullptr : findEdit();
  report.text += "first difference: " + firstText(*first) +
                 (edit ? "; the cause is before it: the edited operation " + editText(*edit) : "") + "\n";
  auto unknown = std::count_if(differences.begin(), first,
                               [](const Difference &difference) { return difference.isUnknown; });
  if (unknown > 0)
    report.text += "it may be an earlier one: " + countText(static_cast<uint64_t>(unknown), "value") +
                   " before it " + (unknown == 1 ? "is" : "are") + " unknown\n";
}

std::string nameList(llvm::ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  return llvm::join(names.take_front(shown), ",");
}

/// The names of values, without the numbers of further operations of that name.
std::vector<std::string> namesOf(llvm::ArrayRef<Difference> differences,
                                 llvm::function_ref<bool(const Difference &)> isWanted, size_t &count) {
  std::vector<std::string> names;
  for (const Difference &difference : differences)
    if (isWanted(difference)) {
      ++count;
      std::string name = StringRef(difference.left->name).split('(').first.str();
      if (!llvm::is_contained(names, name))
        names.push_back(name);
    }
  return names;
}

void RunsReport::addUnknown() {
  size_t count = 0;
  std::vector<std::string> names = namesOf(
      differences, [](const Difference &difference) { return difference.isUnknown && !difference.isGuess; },
      count);
  if (count > 0)
    report.text += countText(count, "value") + (count == 1 ? " is" : " are") + " unknown (" +
                   nameList(names) + "): equal fingerprints, but no hashes or tensors in both runs\n";
}

void RunsReport::addMissingTensors() {
  size_t count = 0;
  std::vector<std::string> names = namesOf(
      differences,
      [](const Difference &difference) {
        return difference.isCertain() && !difference.diff &&
               difference.left->shape == difference.right->shape;
      },
      count);
  if (count > 0)
    report.text += std::to_string(count) + " of the different values " +
                   (count == 1 ? "has no tensor" : "have no tensors") + "; to see how far apart they are, " +
                   "trace both runs again with --trace-tensors " + nameList(names) + ", or all\n";
}

bool RunsReport::isBeyondBound() const {
  auto certain = llvm::count_if(differences, [](const Difference &d) { return d.isCertain(); });
  if (bound->different && static_cast<double>(certain) > *bound->different)
    return true;
  return llvm::any_of(differences, [&](const Difference &difference) {
    return difference.isCertain() && difference.diff && !isWithin(*difference.diff, *bound);
  });
}

std::string RunsReport::findUnknown() const {
  std::string head = "the bound " + bound->text;
  for (const auto &[numbers, records, side] :
       {std::tuple(&matching.onlyLeft, &left, "left"), {&matching.onlyRight, &right, "right"}})
    for (size_t number : *numbers)
      if ((*records)[number].kind == "OUTPUT")
        return head + " needs all results of both runs, but only the " + side + " run has '" +
               (*records)[number].name + "'";
  auto possible = llvm::count_if(differences, [](const Difference &d) { return !d.isGuess; });
  bool needsTensors = bound->needsTensors();
  bool needsBits = bound->different && static_cast<double>(possible) > *bound->different;
  for (const Difference &difference : differences) {
    const Record &l = *difference.left, &r = *difference.right;
    if (difference.isGuess)
      continue;
    if (needsTensors && !difference.diff)
      return head + (typeText(l) == typeText(r)
                         ? " needs tensors of '" + l.name + "' in both traces"
                         : " is one of values of one type, but '" + l.name + "' is " + typeText(l) +
                               " in one trace and " + typeText(r) + " in the other");
    if (needsBits && difference.isUnknown)
      return head + " needs a hash or a tensor of '" + l.name + "' in both traces";
  }
  return "";
}

void RunsReport::checkBound() {
  if (!bound)
    return;
  report.boundHolds = !isBeyondBound();
  std::string unknown = report.boundHolds ? findUnknown() : "";
  if (unknown.empty()) {
    report.text += "bound " + bound->text + (report.boundHolds ? " holds\n" : " does not hold\n");
    return;
  }
  report.boundHolds = false;
  report.errors.push_back(std::move(unknown));
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
  addUnknown();
  addMissingTensors();
}

llvm::json::Object RunsReport::toJSON() const {
  static constexpr StringRef ways[] = {"name", "last of a name", "value"};
  llvm::json::Array values, unknown, onlyLeft, onlyRight;
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
      value["abs"] = jsonNumber(difference.diff->abs, difference.diff->integerAbs);
      value["rel"] = jsonNumber(difference.diff->rel);
      addNorms(value, *difference.diff);
      if (difference.diff->ulp)
        value["ulp"] = ulpText(*difference.diff);
    }
    (difference.isUnknown ? unknown : values).push_back(std::move(value));
  }
  for (size_t number : matching.onlyLeft)
    onlyLeft.push_back(valueText(left[number]));
  for (size_t number : matching.onlyRight)
    onlyRight.push_back(valueText(right[number]));
  llvm::json::Object object{{"pairs", static_cast<int64_t>(matching.pairs.size())},
                            {"different", std::move(values)},
                            {"unknown", std::move(unknown)},
                            {"edits", editsToJSON(edits)},
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
  for (Records *records : {&left, &right})
    if (llvm::Error error = hashKeptTensors(*records))
      return std::move(error);
  if (llvm::Error error = compareRunFiles(leftPath, rightPath).moveInto(about))
    return std::move(error);
  if (llvm::Error error = findEditsOfRuns(leftPath, rightPath).moveInto(edits))
    return std::move(error);
  // Other numerics or another target may be the cause of what an edit seems to be.
  hasOtherOptions = llvm::any_of(about, [](StringRef line) { return !line.starts_with("program:"); });
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
