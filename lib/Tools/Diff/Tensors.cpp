// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff tensors: two tensors, or those of two folders.
#include "Commands.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/Pictures.h"
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Diff/TensorFolder.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::diff;
using llvm::Expected;
using llvm::StringRef;
using mlir::ad::runner::consumeExitError;
using mlir::ad::runner::usageError;

namespace {

/// One tensor of a comparison.
struct Side {
  std::string path, type;
  std::optional<Statistics> statistics;
};

/// Two tensors that were compared.
struct Comparison {
  std::string name;
  Side expected, got;
  MaxDiff diff;
  bool holds = true;
};

std::string indexText(const MaxDiff &diff) {
  return diff.argm
             ? "[" +
                   llvm::join(llvm::map_range(*diff.argm, [](int64_t i) { return std::to_string(i); }), ",") +
                   "]"
             : "";
}

class TensorsReport {
public:
  explicit TensorsReport(const DiffOptions &options) : options(options) {}
  Expected<DiffReport> run();

private:
  Expected<std::vector<FilePair>> findPairs();
  llvm::Error compare(const FilePair &pair);
  llvm::Error describe(Comparison &comparison, TensorFile &expected, TensorFile &got) const;
  void warnOf(const Comparison &comparison);
  std::string pairText(const Comparison &comparison) const;
  std::string folderTable() const;
  std::string folderText() const;
  std::string boundText() const;
  llvm::json::Object toJSON(const Comparison &comparison) const;
  Table makeTable() const;
  std::string makePicture() const;

  const DiffOptions &options;
  bool isFolder = false;
  std::vector<Comparison> comparisons;
  std::vector<std::string> relBlind;
  DiffReport report;
};

Expected<std::vector<FilePair>> TensorsReport::findPairs() {
  StringRef expected = options.inputs[0], got = options.inputs[1];
  isFolder = llvm::sys::fs::is_directory(expected);
  if (isFolder != llvm::sys::fs::is_directory(got))
    return usageError("expected two files or two folders, but only '" + (isFolder ? expected : got) +
                      "' is a folder");
  if (isFolder)
    return pairFolders(expected, got);
  return std::vector<FilePair>{{llvm::sys::path::stem(got).str(), expected.str(), got.str()}};
}

llvm::Error TensorsReport::describe(Comparison &comparison, TensorFile &expected, TensorFile &got) const {
  for (auto [side, file] : {std::pair(&comparison.expected, &expected), std::pair(&comparison.got, &got)}) {
    side->path = file->getPath().str();
    side->type = file->getTypeText();
    if (!options.describe)
      continue;
    if (llvm::Error error = describeFile(*file).moveInto(side->statistics))
      return error;
  }
  return llvm::Error::success();
}

void TensorsReport::warnOf(const Comparison &comparison) {
  const MaxDiff &diff = comparison.diff;
  std::string name = "'" + comparison.name + "': ";
  if (diff.isRelBlind())
    relBlind.push_back(comparison.name);
  if (diff.n == 0)
    report.warnings.push_back(name + "both tensors are empty");
  else if (static_cast<double>(diff.nanPairs) == diff.n)
    report.warnings.push_back(name + "all elements of both tensors are NaN");
  else if (diff.nanPairs > 0)
    report.warnings.push_back(name + countText(static_cast<uint64_t>(diff.nanPairs), "element") +
                              (diff.nanPairs == 1 ? " is NaN in both tensors and counts as equal"
                                                  : " are NaN in both tensors and count as equal"));
}

llvm::Error TensorsReport::compare(const FilePair &pair) {
  if (pair.expected.empty() || pair.got.empty())
    return usageError("'" + (pair.expected.empty() ? pair.got : pair.expected) +
                      "' has no file of its name in '" + options.inputs[pair.expected.empty() ? 0 : 1] + "'");
  Expected<TensorFile> expected = TensorFile::open(pair.expected, options.rawType);
  if (!expected)
    return expected.takeError();
  Expected<TensorFile> got = TensorFile::open(pair.got, options.rawType);
  if (!got)
    return got.takeError();
  for (const TensorFile *file : {&*expected, &*got})
    if (std::string warning = file->getWarning(); !warning.empty())
      report.warnings.push_back(std::move(warning));
  Comparison comparison;
  comparison.name = pair.name;
  if (options.bound && options.bound->ulp && expected->getType() != got->getType())
    return usageError("'" + pair.expected + "' is " + expected->getTypeText() + ", '" + pair.got + "' is " +
                      got->getTypeText() + ": the bound ulp needs tensors of one element type");
  if (llvm::Error error = compareFiles(*expected, *got, options.thresholds).moveInto(comparison.diff))
    return error;
  if (llvm::Error error = describe(comparison, *expected, *got))
    return error;
  comparison.holds = !options.bound || isWithin(comparison.diff, *options.bound);
  report.boundHolds &= comparison.holds;
  warnOf(comparison);
  comparisons.push_back(std::move(comparison));
  return llvm::Error::success();
}

/// The path, the type and, on request, the statistics of a tensor.
std::string sideText(const Side &side) {
  std::string text = side.path + " " + side.type;
  if (!side.statistics)
    return text;
  const Statistics &s = *side.statistics;
  bool hasNumbers = s.count > s.nans, isInteger = s.minInteger <= s.maxInteger;
  if (hasNumbers)
    text += " min=" + (isInteger ? std::to_string(s.minInteger) : pythonNumber(s.min)) +
            " max=" + (isInteger ? std::to_string(s.maxInteger) : pythonNumber(s.max)) +
            " mean=" + pythonNumber(s.mean);
  if (s.nans > 0)
    text += " nans=" + std::to_string(s.nans);
  return text + " fingerprint=" + s.fingerprint;
}

std::string TensorsReport::pairText(const Comparison &comparison) const {
  const MaxDiff &diff = comparison.diff;
  std::string text = "expected: " + sideText(comparison.expected) +
                     "\ngot:      " + sideText(comparison.got) + "\n" + stringDiff(diff) +
                     "\nsum=" + pythonNumber(diff.sum, diff.integerSum) + ", dnan=" + pythonNumber(diff.dnan);
  text += measuresText(diff) + (diff.ulp ? "" : ", ulp: element types differ") + "\n";
  if (std::string index = indexText(diff); !index.empty())
    text += "largest at " + index + ": expected " +
            pythonNumber(diff.expectedAtMax, diff.expectedIntegerAtMax) + ", got " +
            pythonNumber(diff.gotAtMax, diff.gotIntegerAtMax) + "\n";
  return text;
}

// Without the counts, for which a terminal is too narrow.
std::string TensorsReport::folderTable() const {
  constexpr size_t columns = 10;
  Table table = makeTable();
  auto shorten = [](std::vector<std::string> &cells) { cells.resize(columns); };
  shorten(table.header);
  llvm::for_each(table.rows, shorten);
  return table.toText();
}

std::string TensorsReport::folderText() const {
  size_t equal = llvm::count_if(comparisons, [](const Comparison &c) { return c.diff.isZero(); });
  return countText(comparisons.size(), "pair") + " compared, " + std::to_string(equal) + " equal\n";
}

std::string TensorsReport::boundText() const {
  if (!options.bound)
    return "";
  if (report.boundHolds)
    return "bound " + options.bound->text + " holds\n";
  std::vector<std::string> names;
  for (const Comparison &comparison : comparisons)
    if (!comparison.holds)
      names.push_back(comparison.name);
  return "bound " + options.bound->text + " does not hold" +
         (isFolder ? " for " + llvm::join(names, ", ") : "") + "\n";
}

llvm::json::Object sideJSON(const Side &side) {
  llvm::json::Object object{{"path", side.path}, {"type", side.type}};
  if (side.statistics) {
    const Statistics &s = *side.statistics;
    bool isInteger = s.minInteger <= s.maxInteger;
    if (s.count > s.nans) {
      object["min"] = isInteger ? llvm::json::Value(s.minInteger) : jsonNumber(s.min);
      object["max"] = isInteger ? llvm::json::Value(s.maxInteger) : jsonNumber(s.max);
      object["mean"] = jsonNumber(s.mean);
    }
    object["nans"] = s.nans;
    object["fingerprint"] = s.fingerprint;
  }
  return object;
}

llvm::json::Object TensorsReport::toJSON(const Comparison &comparison) const {
  const MaxDiff &diff = comparison.diff;
  llvm::json::Object counts;
  for (const ThresholdCount &above : diff.rep)
    counts[thresholdKey(above.threshold)] = above.count;
  llvm::json::Object object{{"name", comparison.name},
                            {"expected", sideJSON(comparison.expected)},
                            {"got", sideJSON(comparison.got)},
                            {"abs", jsonNumber(diff.abs, diff.integerAbs)},
                            {"rel", jsonNumber(diff.rel)},
                            {"sum", jsonNumber(diff.sum, diff.integerSum)},
                            {"n", diff.n},
                            {"dnan", diff.dnan},
                            {"nan_pairs", diff.nanPairs},
                            {"counts", std::move(counts)},
                            {"text", stringDiff(diff)},
                            {"holds", comparison.holds}};
  addNorms(object, diff);
  if (diff.ulp)
    object["ulp"] =
        *diff.ulp == UINT64_MAX && !diff.integerAbs ? llvm::json::Value("inf") : llvm::json::Value(*diff.ulp);
  if (diff.argm) {
    object["argm"] = llvm::json::Array(*diff.argm);
    object["expected_at_max"] = jsonNumber(diff.expectedAtMax, diff.expectedIntegerAtMax);
    object["got_at_max"] = jsonNumber(diff.gotAtMax, diff.gotIntegerAtMax);
  }
  return object;
}

Table TensorsReport::makeTable() const {
  Table table;
  table.header = {"name", "abs", "rel", "l2", "max", "ulp", "sum", "n", "dnan", "argm"};
  for (double threshold : options.thresholds)
    table.header.push_back(thresholdKey(threshold));
  for (const Comparison &comparison : comparisons) {
    const MaxDiff &diff = comparison.diff;
    std::vector<std::string> row = {comparison.name,
                                    absText(diff),
                                    pythonNumber(diff.rel),
                                    pythonNumber(diff.l2),
                                    pythonNumber(diff.max),
                                    ulpText(diff),
                                    pythonNumber(diff.sum, diff.integerSum),
                                    pythonNumber(diff.n),
                                    pythonNumber(diff.dnan),
                                    indexText(diff)};
    for (const ThresholdCount &above : diff.rep)
      row.push_back(std::to_string(above.count));
    table.rows.push_back(std::move(row));
    table.rowClasses.push_back(comparison.holds ? "" : "fail");
  }
  return table;
}

// Of one pair, how many differences are above each threshold; of folders, the largest difference of each
// pair.
std::string TensorsReport::makePicture() const {
  std::vector<Bar> bars;
  if (isFolder || comparisons.empty()) {
    for (const Comparison &comparison : comparisons)
      bars.push_back({comparison.name, comparison.diff.abs});
    return barChartSVG("largest absolute difference", bars);
  }
  for (const ThresholdCount &above : comparisons.front().diff.rep)
    bars.push_back({thresholdKey(above.threshold), static_cast<double>(above.count)});
  return barChartSVG("elements whose difference is above a threshold", bars);
}

Expected<DiffReport> TensorsReport::run() {
  Expected<std::vector<FilePair>> pairs = findPairs();
  if (!pairs)
    return pairs.takeError();
  for (const FilePair &pair : *pairs)
    if (llvm::Error error = compare(pair)) {
      if (!isFolder)
        return std::move(error);
      report.errors.push_back(consumeExitError(std::move(error)).second);
    }
  warnOfBlindRel(report, relBlind);
  report.title = options.inputs[0] + " and " + options.inputs[1];
  report.legend =
      "abs, rel: the largest absolute and relative difference; l2, max: the Euclidean norm and the largest "
      "magnitude of the difference, divided by that of the expected tensor; ulp: the largest number of steps "
      "of the type between two elements; sum: of all differences; n: elements; dnan: elements that are NaN "
      "on one side; "
      "argm: the index of abs; >x: elements that differ by more than x.";
  report.tableText = isFolder ? folderTable() : "";
  report.text = (isFolder ? folderText() : pairText(comparisons.front())) + boundText();
  llvm::json::Array array;
  for (const Comparison &comparison : comparisons)
    array.push_back(toJSON(comparison));
  report.json["pairs"] = std::move(array);
  report.json["errors"] = llvm::json::Array(report.errors);
  if (options.bound)
    report.json["bound"] = options.bound->text;
  report.table = makeTable();
  report.svg = makePicture();
  return std::move(report);
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runTensors(const DiffOptions &options) {
  return TensorsReport(options).run();
}
