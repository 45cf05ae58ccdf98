// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Table, text and JSON of the rounding errors of a program, operation by operation.
#include "adjoint/Runner/Trace/ShadowReport.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/LocationText.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::StringRef;

namespace {

constexpr size_t rowsOnTerminal = 20;

std::string shortNumber(double value) {
  constexpr int digits = 3;
  return generalNumber(value, digits);
}

double keyOf(const OperationErrors &errors, ShadowOrder order) {
  switch (order) {
  case ShadowOrder::Local:
    return errors.local.rel;
  case ShadowOrder::Total:
    return errors.total.rel;
  case ShadowOrder::Amplification:
    return errors.amplification;
  case ShadowOrder::Digits:
    return -errors.digits;
  }
  return 0;
}

class ShadowReport {
public:
  ShadowReport(const ShadowOptions &options, ShadowOrder order, const ShadowRun &run,
               const Signature &signature, const std::optional<Bound> &bound)
      : options(options), order(order), bound(bound), operations(run.getOperations()),
        decisions(run.getDecisions()) {
    sortOperations();
    for (const ResultErrors &received : run.getReceived())
      results.push_back(received);
    for (auto [spec, result] : llvm::zip_equal(signature.results, run.getResults()))
      if (isFloat(spec.type)) {
        results.push_back(result);
        results.back().name = spec.name;
      }
    for (const std::string &failure : run.getFailures())
      report.warnings.push_back("an operation does not run in f64, so its results count as exact: " +
                                failure);
  }

  DiffReport make();

private:
  void sortOperations();
  Table makeTable(bool exact) const;
  std::string makeText() const;
  void checkBound();
  llvm::json::Object toJSON() const;
  std::string number(double value, bool exact) const {
    return exact ? pythonNumber(value) : shortNumber(value);
  }

  const ShadowOptions &options;
  ShadowOrder order;
  const std::optional<Bound> &bound;
  std::vector<OperationErrors> operations;
  std::vector<Decision> decisions;
  std::vector<ResultErrors> results;
  DiffReport report;
};

// Of equal keys, the operation that ran first comes first.
void ShadowReport::sortOperations() {
  std::vector<std::pair<double, size_t>> keys;
  for (const OperationErrors &errors : operations)
    keys.emplace_back(-keyOf(errors, order), keys.size());
  llvm::sort(keys);
  std::vector<OperationErrors> sorted;
  for (auto [key, index] : keys)
    sorted.push_back(std::move(operations[index]));
  operations = std::move(sorted);
}

Table ShadowReport::makeTable(bool exact) const {
  bool isExactRun = options.samples == 0;
  Table table;
  table.header = {"operation", "location", "executions", "worst iteration"};
  for (StringRef part : {"local", "propagated", "total"})
    if (isExactRun || part == "total")
      for (StringRef unit : {"abs", "rel", "ulp", "l2", "max"})
        if (exact || unit == "rel" || unit == "ulp")
          table.header.push_back((part + " " + unit).str());
  if (isExactRun)
    table.header.push_back("amplification");
  table.header.push_back("digits");
  for (const OperationErrors &errors : operations) {
    std::vector<std::string> row = {errors.op->getName().getStringRef().str(),
                                    mlir::ad::locationText(errors.op->getLoc()),
                                    std::to_string(errors.executions), iterationText(errors.worst)};
    for (const ErrorSize *size : {&errors.local, &errors.propagated, &errors.total})
      if (isExactRun || size == &errors.total) {
        if (exact)
          row.push_back(number(size->abs, exact));
        row.push_back(number(size->rel, exact));
        row.push_back(number(size->ulp, exact));
        if (exact)
          row.insert(row.end(), {number(size->l2, exact), number(size->max, exact)});
      }
    if (isExactRun)
      row.push_back(number(errors.amplification, exact));
    row.push_back(number(errors.digits, exact));
    table.rows.push_back(std::move(row));
  }
  return table;
}

template <class Key>
std::string largestText(StringRef title, llvm::ArrayRef<OperationErrors> operations, Key key) {
  const OperationErrors *largest =
      std::max_element(operations.begin(), operations.end(),
                       [&](const auto &left, const auto &right) { return key(left) < key(right); });
  if (largest == operations.end() || key(*largest) == 0)
    return "";
  return title.str() + shortNumber(key(*largest)) + " of " + executionText(largest->op, {}) + "\n";
}

std::string ShadowReport::makeText() const {
  std::string text;
  if (operations.size() > rowsOnTerminal)
    text += "the first " + std::to_string(rowsOnTerminal) + " of " + std::to_string(operations.size()) +
            " operations; --csv writes all\n";
  if (options.samples == 0) {
    text += largestText("largest local error: ", operations, [](const auto &e) { return e.local.rel; });
    text += largestText("largest amplification: ", operations, [](const auto &e) { return e.amplification; });
  }
  for (const Decision &decision : decisions)
    text += decision.text + ": another " + (decision.isControl ? "decision" : "integer or boolean") +
            (options.samples == 0 ? " in f64" : " in a sample") +
            (decision.isControl ? "; the run followed the actual one" : "") + " (" +
            countText(static_cast<uint64_t>(decision.executions), "execution") + ")\n";
  for (const ResultErrors &result : results)
    text += "'" + result.name + "': " + shortNumber(result.digits) + " digits, abs " +
            shortNumber(result.total.abs) + ", rel " + shortNumber(result.total.rel) + ", l2 " +
            shortNumber(result.total.l2) + ", max " + shortNumber(result.total.max) + ", ulp " +
            shortNumber(result.total.ulp) + "\n";
  return text;
}

bool isWithin(const ErrorSize &size, const Bound &bound) {
  return size.abs <= bound.abs.value_or(HUGE_VAL) && size.rel <= bound.rel.value_or(HUGE_VAL) &&
         size.l2 <= bound.l2.value_or(HUGE_VAL) && size.max <= bound.max.value_or(HUGE_VAL) &&
         size.ulp <= bound.ulp.value_or(HUGE_VAL);
}

void ShadowReport::checkBound() {
  if (!bound)
    return;
  std::vector<std::string> names;
  for (const ResultErrors &result : results)
    if (!isWithin(result.total, *bound))
      names.push_back(result.name);
  report.boundHolds = names.empty();
  report.text += "bound " + bound->text +
                 (names.empty() ? " holds" : " does not hold for " + llvm::join(names, ", ")) + "\n";
  report.json["bound"] = bound->text;
}

llvm::json::Object sizeJSON(const ErrorSize &size) {
  return llvm::json::Object{{"abs", jsonNumber(size.abs)},
                            {"rel", jsonNumber(size.rel)},
                            {"ulp", jsonNumber(size.ulp)},
                            {"l2", jsonNumber(size.l2)},
                            {"max", jsonNumber(size.max)}};
}

llvm::json::Object ShadowReport::toJSON() const {
  llvm::json::Array rows, other, ends;
  for (const OperationErrors &errors : operations) {
    llvm::json::Object row{{"operation", errors.op->getName().getStringRef().str()},
                           {"location", mlir::ad::locationText(errors.op->getLoc())},
                           {"executions", errors.executions},
                           {"worst_iteration", llvm::json::Array(llvm::ArrayRef<int64_t>(errors.worst))},
                           {"total", sizeJSON(errors.total)},
                           {"digits", jsonNumber(errors.digits)}};
    if (options.samples == 0) {
      row["local"] = sizeJSON(errors.local);
      row["propagated"] = sizeJSON(errors.propagated);
      row["amplification"] = jsonNumber(errors.amplification);
    }
    rows.push_back(std::move(row));
  }
  for (const Decision &decision : decisions)
    other.push_back(llvm::json::Object{
        {"operation", decision.text}, {"executions", decision.executions}, {"control", decision.isControl}});
  for (const ResultErrors &result : results)
    ends.push_back(llvm::json::Object{
        {"name", result.name}, {"total", sizeJSON(result.total)}, {"digits", jsonNumber(result.digits)}});
  return llvm::json::Object{{"samples", static_cast<int64_t>(options.samples)},
                            {"seed", static_cast<int64_t>(options.seed)},
                            {"operations", std::move(rows)},
                            {"decisions", std::move(other)},
                            {"results", std::move(ends)}};
}

DiffReport ShadowReport::make() {
  Table shown = makeTable(/*exact=*/false);
  shown.rows.resize(std::min(shown.rows.size(), rowsOnTerminal));
  report.tableText = shown.toText();
  report.text = makeText();
  report.json = toJSON();
  checkBound();
  report.legend =
      options.samples == 0
          ? "The program runs in its own types and a second time in f64. local: what the operation itself "
            "rounds. propagated: what the errors of its operands become. total: both. Each is the largest "
            "of all elements and executions: abs absolute, rel relative to the exact element, ulp in "
            "units of its last place, l2 and max by norms of the tensor. amplification: by how much the "
            "operation enlarges the relative "
            "errors of its operands. digits: correct decimal digits of the worst element."
          : "The program also runs several times with each operation rounded at random. total: the "
            "largest difference of the actual run from one of these. digits: the decimal digits that "
            "they have in common.";
  report.table = makeTable(/*exact=*/true);
  return std::move(report);
}

} // namespace

DiffReport mlir::ad::runner::reportShadow(const ShadowRun &run, const ShadowOptions &options,
                                          ShadowOrder order, const Signature &signature,
                                          const std::optional<Bound> &bound) {
  return ShadowReport(options, order, run, signature, bound).make();
}
