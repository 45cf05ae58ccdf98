// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests that each run of --repeat gets the original arguments; a program may overwrite donated ones.
#include "TestUtils.h"
#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/Npy.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir::ad::runner;

/// Adds 1 to its argument in place and returns it.
class Increment : public Executable {
public:
  int32_t run(adrt_context &, llvm::ArrayRef<adrt_tensor> arguments,
              llvm::MutableArrayRef<adrt_tensor> results) override {
    *static_cast<float *>(arguments[0].data) += 1;
    results[0] = arguments[0];
    return ADRT_OK;
  }
};

static std::unique_ptr<Executable> makeIncrement(mlir::ModuleOp, llvm::StringRef) {
  return std::make_unique<Increment>();
}

/// The result of @main, with the given attribute on its argument, which is 0, after the last run.
static float lastResult(const char *attributes, std::vector<const char *> options) {
  std::string program = unit::scratch("increment.mlir"), folder = unit::scratch("increment");
  {
    std::error_code code;
    llvm::raw_fd_ostream(program, code) << "func.func @main(%x: tensor<f32> {ad.name = \"x\"" << attributes
                                        << "}) -> (tensor<f32> {ad.name = \"y\"}) {\n"
                                        << "  return %x : tensor<f32>\n}\n";
  }
  std::vector<const char *> all = {"ad-runner",          program.c_str(), "--arg=x=zeros",
                                   "--target=reference", "--out-dir",     folder.c_str()};
  all.insert(all.end(), options.begin(), options.end());
  Hooks hooks = standardHooks();
  hooks.makeReference = makeIncrement;
  EXPECT_EQ(runnerMain(static_cast<int>(all.size()), const_cast<char **>(all.data()), hooks), 0);
  Tensor result = llvm::cantFail(llvm::cantFail(NpyFile::open(folder + "/y.npy")).load(ADRT_F32));
  return *reinterpret_cast<const float *>(result.getData());
}

TEST(Repeat, RestoresDonatedArguments) {
  EXPECT_EQ(lastResult(", ad.donated = 0", {"--repeat=1"}), 1);
  EXPECT_EQ(lastResult(", ad.donated = 0", {"--repeat=3"}), 1);
  EXPECT_EQ(lastResult(", ad.donated = 0", {"--repeat=2", "--warmup=4"}), 1);
  // This executable breaks the rule that only donated arguments may be overwritten. It shows that other
  // arguments are not saved.
  EXPECT_EQ(lastResult("", {"--repeat=3"}), 3);
}
