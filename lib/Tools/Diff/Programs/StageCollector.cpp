// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies the program between passes.
#include "StageCollector.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::ad::diff;

namespace {

class PassObserver final : public PassInstrumentation {
public:
  explicit PassObserver(StageCollector &collector) : collector(collector) {}
  void runAfterPass(Pass *pass, Operation *op) override { collector.passed(pass->getArgument(), op); }

private:
  StageCollector &collector;
};

} // namespace

std::unique_ptr<PassInstrumentation> StageCollector::observePasses() {
  return std::make_unique<PassObserver>(*this);
}

// Passes on functions come in an adaptor without a name, whose end is the end of the last of them.
void StageCollector::passed(llvm::StringRef pass, Operation *op) {
  std::lock_guard<std::mutex> lock(mutex);
  differentiated |= pass == "ad-differentiate";
  ended |= pass == "convert-ad-to-linalg";
  if (!pass.empty() && !pass.starts_with("ad-verify"))
    name = pass.str();
  auto module = dyn_cast<ModuleOp>(op);
  if (!module || ended || !differentiated)
    return;
  std::string text;
  llvm::raw_string_ostream(text) << module;
  if (stages.empty() || stages.back().text != text)
    stages.push_back({name, std::move(text), module.clone()});
}
