// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "TestUtils.h"

#include "adjoint/Support/Elements.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <filesystem>

using namespace mlir::ad::runner;

namespace {

class ScratchFolder final : public testing::Environment {
public:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ad-runner-unit", path)); }
  void TearDown() override {
    std::error_code code; // LLVM's function does not remove pipes
    std::filesystem::remove_all(path.str().str(), code);
    EXPECT_FALSE(code) << code.message();
  }

  llvm::SmallString<128> path;
};

} // namespace

static auto *const scratchFolder =
    static_cast<ScratchFolder *>(testing::AddGlobalTestEnvironment(new ScratchFolder));

std::string unit::scratch(llvm::StringRef name) {
  llvm::SmallString<128> path(scratchFolder->path);
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
