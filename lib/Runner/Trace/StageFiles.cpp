// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the program and a list of its operations after each pass.
#include "StageFiles.h"
#include "adjoint/Runner/Trace/ObservedRun.h"
#include "adjoint/Runner/Trace/ValueRecorder.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Path.h"

#include <mutex>

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

/// Passes on functions come in adaptors, which have no flag: the file is named after the last of them.
class StageWriter final : public PassInstrumentation {
public:
  StageWriter(StageFiles &files, ObservedRun &run) : files(files), run(run) {}

  void runBeforePass(Pass *pass, Operation *op) override { run.beforePass(pass, op); }
  void runAfterPass(Pass *pass, Operation *op) override {
    std::lock_guard<std::mutex> lock(mutex);
    if (!pass->getArgument().empty())
      name = pass->getArgument().str();
    if (auto module = dyn_cast<ModuleOp>(op); module && !module->getParentOp())
      files.write(module, name);
  }

private:
  StageFiles &files;
  ObservedRun &run;
  std::mutex mutex;
  std::string name;
};

/// A line for each operation: its result, name, types and location.
std::string listOperations(ModuleOp module, StringRef source) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  unsigned depth = 0;
  std::function<void(Operation *)> list = [&](Operation *op) {
    stream.indent(2 * depth) << op->getName();
    if (auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      stream << " @" << symbol.getValue();
    stream << " : (";
    llvm::interleaveComma(op->getOperandTypes(), stream);
    stream << ") -> (";
    llvm::interleaveComma(op->getResultTypes(), stream);
    stream << ")";
    if (op->getNumResults() > 0)
      stream << " " << valueName(op, 0, source);
    stream << " at " << shortLocation(op->getLoc()) << "\n";
    ++depth;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        list(&inner);
    --depth;
  };
  list(module);
  return text;
}

} // namespace

void StageFiles::write(ModuleOp module, StringRef stage) {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  if (text == last || !problem.empty())
    return;
  std::string name = stem + "_" + std::to_string(stages.size());
  for (auto [ending, content] : {std::pair(".mlir", &text), {".txt", nullptr}}) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, name + ending);
    std::string list = content ? "" : listOperations(module, source);
    if (llvm::Error error = writeFile(path, {content ? StringRef(*content) : StringRef(list)}))
      problem = consumeExitError(std::move(error)).second;
  }
  stages.emplace_back(name + ".mlir", stage.str());
  last = std::move(text);
}

std::unique_ptr<PassInstrumentation> StageFiles::observePasses(ObservedRun &run) {
  return std::make_unique<StageWriter>(*this, run);
}

llvm::json::Array StageFiles::toJSON() const {
  llvm::json::Array array;
  for (const auto &[file, stage] : stages)
    array.push_back(llvm::json::Object{{"file", file}, {"after", stage}});
  return array;
}

llvm::Error StageFiles::takeError() { return problem.empty() ? llvm::Error::success() : usageError(problem); }
