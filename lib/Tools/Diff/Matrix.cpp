// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff matrix: the pairwise differences of several tensors.
#include "Commands.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/Pictures.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::diff;
using llvm::Expected;
using mlir::ad::runner::usageError;

namespace {

Expected<std::vector<TensorFile>> openAll(const DiffOptions &options) {
  std::vector<TensorFile> files;
  for (const std::string &path : options.inputs) {
    Expected<TensorFile> file = TensorFile::open(path, options.rawType);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
  }
  return files;
}

// The names of the files, or their paths if two have one name.
std::vector<std::string> labelsOf(const DiffOptions &options) {
  if (!options.labels.empty())
    return options.labels;
  std::vector<std::string> labels;
  labels.reserve(options.inputs.size());
  for (const std::string &path : options.inputs)
    labels.push_back(llvm::sys::path::stem(path).str());
  llvm::StringSet<> names;
  for (const std::string &label : labels)
    names.insert(label);
  return names.size() == labels.size() ? labels : options.inputs;
}

std::string legendOf(llvm::StringRef measure) {
  if (measure == "abs")
    return "The largest absolute difference";
  if (measure == "ulp")
    return "The largest number of steps of the type between two elements";
  std::string expected = " expected (the row's) tensor";
  return measure == "rel"
             ? "The largest |difference| / (|expected| + 0.001), of the elements of the" + expected
         : measure == "l2"
             ? "The Euclidean norm of the difference, divided by that of the" + expected + ","
             : "The largest magnitude of the difference, divided by that of the" + expected + ",";
}

std::string groupText(const DiffMatrix &matrix, llvm::ArrayRef<size_t> group) {
  return "{" + llvm::join(llvm::map_range(group, [&](size_t i) { return matrix.getLabels()[i]; }), ", ") +
         "}";
}

std::string equalText(const DiffMatrix &matrix) {
  std::string text = "equal:";
  for (const std::vector<size_t> &group : matrix.findEqual())
    text += " " + groupText(matrix, group);
  return text + "\n";
}

llvm::json::Array rowsToJSON(const DiffMatrix &matrix, llvm::StringRef measure) {
  llvm::json::Array rows;
  for (size_t row = 0; row < matrix.size(); ++row) {
    llvm::json::Array cells;
    for (size_t column = 0; column < matrix.size(); ++column)
      cells.push_back(measureJSON(matrix.getPair(row, column), measure));
    rows.push_back(std::move(cells));
  }
  return rows;
}

llvm::json::Object toJSON(const DiffMatrix &matrix, const DiffOptions &options) {
  llvm::json::Array groups;
  for (const std::vector<size_t> &group : matrix.findEqual()) {
    llvm::json::Array labels;
    for (size_t index : group)
      labels.push_back(matrix.getLabels()[index]);
    groups.push_back(std::move(labels));
  }
  llvm::json::Object object{{"title", options.title},
                            {"labels", llvm::json::Array(matrix.getLabels())},
                            {"abs", rowsToJSON(matrix, "abs")},
                            {"measure", options.measure},
                            {"values", rowsToJSON(matrix, options.measure)},
                            {"equal", std::move(groups)},
                            {"max", measureJSON(matrix.getLargest(), options.measure)}};
  if (options.bound)
    object["bound"] = options.bound->text;
  return object;
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runMatrix(const DiffOptions &options) {
  constexpr int digits = 8;
  Expected<std::vector<TensorFile>> files = openAll(options);
  if (!files)
    return files.takeError();
  bool usesUlp = options.measure == "ulp" || (options.bound && options.bound->ulp);
  bool usesRel = options.measure == "rel" || (options.bound && options.bound->rel);
  for (const TensorFile &file : *files)
    if (usesUlp && file.getType() != files->front().getType())
      return usageError("'" + files->front().getPath() + "' is " + files->front().getTypeText() + ", '" +
                        file.getPath() + "' is " + file.getTypeText() +
                        ": the measure ulp needs tensors of one element type");
  Expected<DiffMatrix> matrix = comparePairwise(*files, labelsOf(options), options.measure);
  if (!matrix)
    return matrix.takeError();
  DiffReport report;
  report.legend =
      legendOf(options.measure) + " of each pair of tensors. White is an exact 0, orange the largest.";
  if (usesRel)
    warnOfBlindRel(report, matrix->findBlindRel());
  report.title =
      options.title.empty() ? "Differences of " + countText(matrix->size(), "tensor") : options.title;
  if (!options.title.empty())
    report.tableText = "------ " + options.title + "\n";
  report.tableText += matrix->toTable(digits).toText();
  report.text = "max=" + measureText(matrix->getLargest(), options.measure) + "\n" + equalText(*matrix);
  if (options.bound) {
    report.boundHolds = matrix->isWithin(*options.bound);
    report.text += "bound " + options.bound->text + (report.boundHolds ? " holds\n" : " does not hold\n");
  }
  report.json = toJSON(*matrix, options);
  report.table = matrix->toTable(/*digits=*/0);
  report.svg = heatMapSVG(*matrix, options.title);
  return report;
}
