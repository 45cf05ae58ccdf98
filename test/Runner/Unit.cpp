// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs the tests of the runner's parts: `ad-runner-unit [FILTER]`.
#include "Unit.h"
#include "adjoint/Support/Elements.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::runner;

static bool currentFailed;

std::vector<unit::Test> &unit::tests() {
  static std::vector<Test> all;
  return all;
}

void unit::fail(const char *file, int line, const std::string &text) {
  currentFailed = true;
  llvm::errs() << llvm::sys::path::filename(file) << ":" << line << ": " << text << "\n";
}

static const std::string &scratchRoot() {
  static const std::string root = [] {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createUniqueDirectory("ad-runner-unit", path))
      path = ".";
    return path.str().str();
  }();
  return root;
}

std::string unit::scratch(llvm::StringRef name) {
  llvm::SmallString<128> path(scratchRoot());
  llvm::sys::path::append(path, name);
  return path.str().str();
}

Tensor unit::tensor(adrt_type type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values) {
  Tensor result = llvm::cantFail(Tensor::create(type, shape));
  for (auto [index, value] : llvm::enumerate(values))
    adrt::storeFromDouble(type, value,
                          result.getData() + static_cast<int64_t>(index) * adrt::elementSize(type));
  return result;
}

int main(int argc, char **argv) {
  int run = 0, failed = 0;
  for (const unit::Test &test : unit::tests()) {
    if (argc > 1 && !llvm::StringRef(test.name).contains(argv[1]))
      continue;
    currentFailed = false;
    test.body();
    ++run;
    failed += currentFailed;
    if (currentFailed)
      llvm::outs() << "FAILED: " << test.name << "\n";
  }
  llvm::sys::fs::remove_directories(scratchRoot());
  llvm::outs() << "ad-runner-unit: " << run << " run, " << failed << " failed\n";
  return failed ? 1 : 0;
}
