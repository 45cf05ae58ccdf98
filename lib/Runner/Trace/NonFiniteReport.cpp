// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Texts and JSON of the origins of NaNs and infinities.
#include "adjoint/Runner/Trace/NonFiniteReport.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/LocationText.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::StringRef;

namespace {

StringRef kindText(NonFinite kind) { return kind == NonFinite::NaN ? "NaN" : "infinity"; }

std::string operandText(const OperandNote &note) {
  std::string text = note.name + (note.value ? " is " + pythonNumber(*note.value) : "");
  return note.range.count == 1 && note.value ? text
                                             : text + (note.value ? ", of " : ": ") + note.range.toText();
}

std::string originText(size_t number, const NonFiniteOrigin &origin) {
  std::string text = std::to_string(number) + ". " + kindText(origin.kind).str() + ": " +
                     executionText(origin.op, origin.iterations) + "\n   first at " + origin.element +
                     "; result: " + origin.result.toText() + "\n";
  for (const OperandNote &note : origin.operands)
    text += "   " + operandText(note) + "\n";
  for (const ChainStep &step : origin.chain)
    text += "   from " + step.text + ": " + step.range.toText() + "\n";
  if (origin.executions > 1)
    text += "   in " + std::to_string(origin.executions) + " executions of this operation\n";
  if (!origin.consequence.empty())
    text += "   becomes NaN in " + origin.consequence + "\n";
  return text;
}

llvm::json::Object rangeJSON(const ElementRange &range) {
  llvm::json::Object object{{"count", range.count}, {"nans", range.nans}, {"infinities", range.infinities}};
  if (range.count > range.nans) {
    object["min"] = jsonNumber(range.min);
    object["max"] = jsonNumber(range.max);
  }
  return object;
}

llvm::json::Object originJSON(const NonFiniteOrigin &origin) {
  llvm::json::Array operands, chain;
  for (const OperandNote &note : origin.operands) {
    llvm::json::Object operand{{"name", note.name}, {"range", rangeJSON(note.range)}};
    if (note.value)
      operand["value"] = jsonNumber(*note.value);
    operands.push_back(std::move(operand));
  }
  for (const ChainStep &step : origin.chain)
    chain.push_back(llvm::json::Object{{"from", step.text}, {"range", rangeJSON(step.range)}});
  return llvm::json::Object{{"kind", kindText(origin.kind)},
                            {"operation", origin.op->getName().getStringRef().str()},
                            {"location", mlir::ad::locationText(origin.op->getLoc())},
                            {"iterations", llvm::json::Array(llvm::ArrayRef<int64_t>(origin.iterations))},
                            {"element", origin.element},
                            {"value", jsonNumber(origin.value)},
                            {"result", rangeJSON(origin.result)},
                            {"operands", std::move(operands)},
                            {"chain", std::move(chain)},
                            {"executions", origin.executions},
                            {"consequence", origin.consequence}};
}

Table makeTable(llvm::ArrayRef<NonFiniteOrigin> origins) {
  Table table;
  table.header = {"kind", "operation", "location", "iteration", "element", "operands", "from", "executions"};
  for (const NonFiniteOrigin &origin : origins) {
    std::string operands, chain;
    for (const OperandNote &note : origin.operands)
      operands += (operands.empty() ? "" : "; ") + operandText(note);
    for (const ChainStep &step : origin.chain)
      chain += (chain.empty() ? "" : "; ") + step.text + ": " + step.range.toText();
    table.rows.push_back({kindText(origin.kind).str(), origin.op->getName().getStringRef().str(),
                          mlir::ad::locationText(origin.op->getLoc()), iterationText(origin.iterations),
                          origin.element, operands, chain, std::to_string(origin.executions)});
  }
  return table;
}

std::string listText(StringRef title, llvm::ArrayRef<std::string> texts) {
  std::string all;
  for (const std::string &text : texts)
    all += title.str() + " " + text + "\n";
  return all;
}

} // namespace

void NonFiniteOutputs::add(StringRef name, const adrt_tensor &value) {
  if (!isFloat(static_cast<adrt_type>(value.type)))
    return;
  ElementRange range = rangeOf(mlir::ad::reference::Tensor::copyOf(value));
  if (!range.isFinite())
    texts.push_back(("'" + name + "': ").str() + range.toText());
}

DiffReport mlir::ad::runner::reportNonFinites(const NonFiniteFinder &finder, const NonFiniteOutputs &outputs,
                                              bool failed) {
  llvm::ArrayRef<NonFiniteOrigin> origins = finder.getOrigins();
  DiffReport report;
  for (const NonFiniteOrigin &origin : origins)
    report.text += originText(static_cast<size_t>(&origin - origins.begin()) + 1, origin);
  if (origins.empty())
    report.text += std::string("none: no operation made a NaN or an infinity") +
                   (failed ? " before the run failed\n" : "\n");
  report.text += listText("given by", finder.getGiven()) + listText("reaches", outputs.texts) +
                 countText(static_cast<uint64_t>(finder.getExecutions()), "execution") + " of operations, " +
                 countText(origins.size(), "origin") + (failed ? "; then the run failed\n" : "\n");
  report.boundHolds = origins.empty();
  llvm::json::Array list;
  for (const NonFiniteOrigin &origin : origins)
    list.push_back(originJSON(origin));
  report.json = llvm::json::Object{{"origins", std::move(list)},
                                   {"given", llvm::json::Array(finder.getGiven())},
                                   {"outputs", llvm::json::Array(outputs.texts)},
                                   {"executions", finder.getExecutions()}};
  report.legend =
      "An origin is an operation that makes a NaN without a NaN in its operands, or an infinity "
      "from finite operands. Each row has its first such execution: the first element, the operands "
      "there, and where the operand that explains it best came from.";
  report.table = makeTable(origins);
  return report;
}
