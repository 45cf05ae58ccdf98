// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a search for a cause prints and writes.
#include "../../Commands.h"
#include "ReduceSearch.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Support/Error.h"
#include "llvm/Support/FileSystem.h"

#include <unistd.h>

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::StringRef;

ProgressLine::~ProgressLine() {
  if (shown)
    llvm::errs() << "\r\x1b[K";
}

void ProgressLine::show(unsigned execution) {
  if (!isatty(STDERR_FILENO))
    return;
  shown = true;
  llvm::errs() << "\r\x1b[Kad-diff: execution " << execution;
  llvm::errs().flush();
}

llvm::Error mlir::ad::diff::checkNewFolder(StringRef path) {
  if (path.empty() || !llvm::sys::fs::exists(path))
    return llvm::Error::success();
  std::error_code error;
  if (!llvm::sys::fs::is_directory(path))
    return usageError("--output: '" + path + "' is no folder");
  if (llvm::sys::fs::directory_iterator(path, error) != llvm::sys::fs::directory_iterator() || error)
    return usageError("--output: the folder '" + path + "' is not empty; name a new one");
  return llvm::Error::success();
}

std::string mlir::ad::diff::describe(const std::vector<ResultDiff> &results) {
  std::string text;
  for (const ResultDiff &result : results) {
    text += "  " + result.name + ": " + stringDiff(result.diff) + measuresText(result.diff);
    text += result.onlyZeroSigns ? ", signs of zeros\n" : "\n";
  }
  return text;
}

llvm::json::Value mlir::ad::diff::toJSON(const std::vector<ResultDiff> &results) {
  llvm::json::Array array;
  for (const ResultDiff &result : results) {
    llvm::json::Object object{{"name", result.name},
                              {"only_zero_signs", result.onlyZeroSigns},
                              {"abs", jsonNumber(result.diff.abs, result.diff.integerAbs)},
                              {"rel", jsonNumber(result.diff.rel)},
                              {"dnan", jsonNumber(result.diff.dnan)}};
    addNorms(object, result.diff);
    if (result.diff.ulp)
      object["ulp"] = static_cast<int64_t>(std::min<uint64_t>(*result.diff.ulp, INT64_MAX));
    array.push_back(std::move(object));
  }
  return array;
}

static std::string reducedText(const Reduction &reduction, mlir::StringRef of) {
  std::string text = ("results of the " + of + " that differ:\n").str() + describe(reduction.reduced);
  if (std::optional<double> factor = reduction.amplification())
    text += "amplification: the relative difference of the program is " + generalNumber(*factor, 3) +
            " times as large\n";
  if (reduction.stage && reduction.whole.empty())
    text += describe(*reduction.stage);
  if (!reduction.noStage.empty())
    text += "the stage is not known: " + reduction.noStage + "\n";
  if (reduction.failures > 0)
    text += countText(reduction.failures, "part") + " of the program did not compile or run alone\n";
  return text;
}

static std::string operationsText(const Reduction &reduction) {
  std::string text;
  for (const Reduction::Operation &operation : reduction.operations)
    text += "  " + operation.name + " at " + operation.location + "\n";
  return text;
}

static std::string foundText(const Reduction &reduction) {
  size_t count = reduction.operations.size();
  std::string text = "reduced program: " + countText(count, "operation") +
                     (reduction.inside.empty() ? " of " + std::to_string(reduction.units) : "") +
                     (count == 1 || reduction.ended ? "" : ", and none of them can be left out") + "\n";
  if (reduction.ended)
    text +=
        "the search ended when its time was over; fewer operations may differ, --seconds gives more time\n";
  text += operationsText(reduction);
  for (const std::string &outer : reduction.inside)
    text += "inside " + outer + "\n";
  return text + reducedText(reduction, "reduced program");
}

std::string mlir::ad::diff::noDifference(const std::optional<Bound> &bound) {
  return bound ? "no difference between A and B is larger than the bound\n"
               : "A and B give the same results\n";
}

static std::string planText(const std::string &side) {
  return side == "A and B" ? "the memory plans of A and B are wrong; in B: "
                           : "the memory plan of " + side + " is wrong: ";
}

static std::string wholeText(const Reduction &reduction) {
  std::string text =
      reduction.kind == ReductionKind::WrongPlan
          ? planText(reduction.stage->side) + reduction.message + "\n"
          : "an operation computes the first value that differs in the whole program, but it does not differ "
            "by itself:\n";
  for (const Reduction::Operation &operation : reduction.whole)
    text += "  " + (operation.name.empty() ? "an operation" : operation.name) + " at " + operation.location +
            (operation.role.empty() ? "" : " " + operation.role) + "\n";
  return text + describe(*reduction.stage);
}

std::string mlir::ad::diff::describe(const Reduction &reduction, const std::optional<Bound> &bound) {
  switch (reduction.kind) {
  case ReductionKind::None:
    return "nothing to reduce: " + noDifference(bound);
  case ReductionKind::Earlier:
    return "the differentiated program gives the same results: the difference is from the differentiation, "
           "or from options that change what is differentiated\n";
  case ReductionKind::Derivative:
    return "the derivative of an operation differs, but the operation itself does not:\n" +
           operationsText(reduction) + reducedText(reduction, "derivative, for random cotangents,");
  case ReductionKind::Alone:
    return std::string(reduction.operations.size() == 1
                           ? "this operation differs by itself, for its operands in the program:\n"
                           : "these operations differ together, for their operands in the program:\n") +
           operationsText(reduction) +
           reducedText(reduction, reduction.operations.size() == 1 ? "operation" : "operations");
  case ReductionKind::Unknown:
    return "no operation at this place differs by itself; --output FOLDER searches the whole program\n";
  case ReductionKind::WrongPlan:
    return wholeText(reduction) + (reduction.operations.empty() ? "" : foundText(reduction));
  case ReductionKind::InProgram:
    return wholeText(reduction);
  case ReductionKind::Found:
    break;
  }
  return foundText(reduction);
}

llvm::json::Object mlir::ad::diff::toJSON(const Reduction &reduction) {
  constexpr StringRef kinds[] = {"none",  "earlier", "found",      "derivative",
                                 "alone", "unknown", "wrong_plan", "in_program"};
  llvm::json::Array operations, whole;
  for (const Reduction::Operation &operation : reduction.operations)
    operations.push_back(llvm::json::Object{{"operation", operation.name}, {"location", operation.location}});
  for (const Reduction::Operation &operation : reduction.whole)
    whole.push_back(llvm::json::Object{
        {"operation", operation.name}, {"location", operation.location}, {"role", operation.role}});
  llvm::json::Object object{{"reduction", kinds[static_cast<size_t>(reduction.kind)]},
                            {"differences", toJSON(reduction.differences)},
                            {"reduced", toJSON(reduction.reduced)},
                            {"operations", std::move(operations)},
                            {"whole_program", std::move(whole)},
                            {"inside", llvm::json::Array(reduction.inside)},
                            {"ended", reduction.ended},
                            {"units", static_cast<int64_t>(reduction.units)},
                            {"failures", static_cast<int64_t>(reduction.failures)}};
  if (std::optional<double> factor = reduction.amplification())
    object["amplification"] = jsonNumber(*factor);
  if (reduction.stage)
    object["stage"] = llvm::json::Object{{"stage", reduction.stage->stage},
                                         {"pass", reduction.stage->pass},
                                         {"kernels", llvm::json::Array(reduction.stage->kernels)},
                                         {"side", reduction.stage->side}};
  if (!reduction.noStage.empty())
    object["no_stage"] = reduction.noStage;
  if (!reduction.message.empty())
    object["message"] = reduction.message;
  return object;
}
