// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Options of the command line reach the emulated GPU. The kernel of these tests has a data race.
#include "../../lib/Runner/Executable/CompiledExecutable.h"
#include "../../lib/Runner/Session/Execution.h"
#include "../Runtime/RacingKernel.h"
#include "TestUtils.h"
#include "adjoint/Runner/Options/Options.h"

#include <algorithm>

using namespace mlir::ad::runner;

using unit::threadsInOrder;

static int32_t launchOnce(adrt_context *context, const adrt_tensor *, adrt_tensor *) {
  static constexpr adrt_site site = {"racing.mlir:1:1", "ad.launch"};
  void *memory = adrt_arena(context, 64);
  adrt_grid grid = {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0};
  void *arguments[] = {&memory};
  const int32_t bytes[] = {sizeof memory};
  return adrt_launch(context, &site, 0, &grid, arguments, bytes, 1);
}

/// The kernel and its host program, as if they had been compiled.
class RacingCode final : public LoadedCode {
public:
  llvm::Expected<void *> find(const std::string &symbol) override {
    return symbol == "adsim_code_racing" ? static_cast<void *>(&kernel)
                                         : reinterpret_cast<void *>(launchOnce);
  }

private:
  adsim::KernelCode kernel = unit::racingKernel();
};

/// The exit code of the program with the options; `threadsInOrder` then has the executed threads.
static int runWith(std::vector<const char *> given) {
  given.insert(given.begin(), {"racing.mlir", "--target", "gpu-sim"});
  Options options = llvm::cantFail(parseOptions(given));
  CompiledProgram program;
  program.signature.entry = "main";
  program.kernels = {"racing"};
  program.device = "gpu-sim";
  auto executable = llvm::cantFail(makeExecutable(program, std::make_unique<RacingCode>()));
  Report report;
  Console console("ad-runner");
  threadsInOrder.clear();
  return Execution(options, report, console, nullptr, Clock::now())
      .run(*executable, program.signature, {}, llvm::MemoryBufferRef());
}

TEST(Emulation, RacesAreLookedForUnlessToldOtherwise) {
  EXPECT_EQ(runWith({}), 1);
  EXPECT_EQ(runWith({"--no-race-detection"}), 0);
  EXPECT_EQ(threadsInOrder.size(), 64);
}

TEST(Emulation, SchedulesAndSeedsReachTheKernels) {
  EXPECT_EQ(runWith({"--no-race-detection"}), 0);
  EXPECT_TRUE(std::is_sorted(threadsInOrder.begin(), threadsInOrder.end()));
  auto shuffled = [](const char *seed) {
    EXPECT_EQ(runWith({"--no-race-detection", "--schedule", "shuffled", "--seed", seed}), 0);
    return threadsInOrder;
  };
  std::vector<uint32_t> first = shuffled("1");
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(shuffled("1"), first);
  EXPECT_NE(shuffled("2"), first);
}
