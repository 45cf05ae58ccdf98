// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From the command line to the emulated GPU: how its kernels are to run. The kernel here is one whose threads
// all write to the same word, and which writes down who has run when.
#include "../../lib/Runner/CompiledExecutable.h"
#include "../../lib/Runner/Execution.h"
#include "Unit.h"
#include "adjoint/Emulator/Abi.h"
#include "adjoint/Runner/Options.h"
#include "adjoint/Runtime/SymbolName.h"

using namespace mlir::ad::runner;

namespace adsim {
struct Thread;
} // namespace adsim
extern "C" adsim::Thread *adsim_self();
extern "C" void adsim_access(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags,
                             uint32_t site);

static std::vector<uint32_t> order; // of threads

static void writeSameWord(void **arguments) {
  adsim::Thread *self = adsim_self();
  order.push_back(reinterpret_cast<const uint32_t *>(self)[adsim::TidX]);
  adsim_access(self, *static_cast<void **>(arguments[0]), 4, adsim::AccessGlobal | adsim::AccessWrite, 0);
}

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
  RacingCode() {
    kernel.name = kernel.kind = "racing";
    kernel.argumentCount = 1;
    kernel.entry = writeSameWord;
  }
  llvm::Expected<void *> find(const std::string &symbol) override {
    return symbol == "adsim_code_racing" ? static_cast<void *>(&kernel)
                                         : reinterpret_cast<void *>(launchOnce);
  }

private:
  adsim::KernelCode kernel = {};
};

/// The exit code of the program under the options; `order` holds what ran.
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
  order.clear();
  return Execution(options, report, console, nullptr, Clock::now())
      .run(*executable, program.signature, {}, llvm::MemoryBufferRef());
}

TEST(racesAreLookedForUnlessToldOtherwise) {
  EXPECT(runWith({}) == 1);
  EXPECT(runWith({"--no-race-detection"}) == 0 && order.size() == 64);
}

TEST(schedulesAndSeedsReachTheKernels) {
  EXPECT(runWith({"--no-race-detection"}) == 0 && std::is_sorted(order.begin(), order.end()));
  auto shuffled = [](const char *seed) {
    EXPECT(runWith({"--no-race-detection", "--schedule", "shuffled", "--seed", seed}) == 0);
    return order;
  };
  std::vector<uint32_t> first = shuffled("1");
  EXPECT(!std::is_sorted(first.begin(), first.end()));
  EXPECT(shuffled("1") == first && shuffled("2") != first);
}
