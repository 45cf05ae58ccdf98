// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of programs that their host interrupts: they poll between kernels that take long, on every path
// through the program, and rarely between short kernels.
#include "TestUtils.h"
#include "adjoint/Runner/Program.h"
#include "adjoint/Runner/StandardHooks.h"

#include <algorithm>

using namespace mlir::ad::runner;

namespace {

/// `count` products of square matrices, each sent to the host.
std::string products(int count, const std::string &size) {
  std::string type = "tensor<" + size + "x" + size + "xf32>",
              step = " : (" + type + ", " + type + ") -> " + type;
  std::string text = "func.func @main(%x0: " + type + ") {\n";
  for (int i = 0; i < count; ++i) {
    std::string from = "%x" + std::to_string(i), to = "%x" + std::to_string(i + 1);
    text += to + " = ad.dot " + from + ", %x0" + step + "\nad.receive \"r\"(" + to + ") : " + type + "\n";
  }
  return text + "return\n}\n";
}

/// A product in each branch, one before and one after.
constexpr const char *branches = R"(
func.func @main(%x: tensor<160x160xf32>) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<160x160xf32>
  %c160 = arith.constant 160 : index
  %yes = arith.cmpi eq, %size, %c160 : index
  %a = ad.dot %x, %x : (tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>
  ad.receive "r"(%a) : tensor<160x160xf32>
  %b = scf.if %yes -> tensor<160x160xf32> {
    %then = ad.dot %a, %x : (tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>
    scf.yield %then : tensor<160x160xf32>
  } else {
    %else = ad.dot %x, %a : (tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>
    scf.yield %else : tensor<160x160xf32>
  }
  ad.receive "r"(%b) : tensor<160x160xf32>
  %c = ad.dot %b, %x : (tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>
  ad.receive "r"(%c) : tensor<160x160xf32>
  return
})";

struct StoppedRun {
  std::string events; ///< `?` for a question, `r` for a received value
  bool ended = false, interrupted = false;
};

class Stopping {
public:
  Stopping(const std::string &source, const char *target, int64_t size) : size(size) {
    Failure failure;
    ProgramOptions options;
    options.target = target;
    options.cache = "off";
    program = Program::compile(source, "p.mlir", options, standardHooks(), [] { return false; }, failure);
    EXPECT_TRUE(program);
  }

  /// Returns true in poll number `stop` and in later polls.
  StoppedRun run(int stop) const {
    std::vector<double> values(static_cast<size_t>(size * size), 0);
    Tensor x = unit::tensor(ADRT_F32, {size, size}, values);
    StoppedRun run;
    int polls = 0;
    ProgramHost host;
    host.receive = [&](const char *, const adrt_tensor *, int32_t, std::string &) {
      run.events += 'r';
      return ADRT_OK;
    };
    host.interrupted = [&] {
      run.events += '?';
      return polls++ >= stop;
    };
    std::vector<ProgramResult> results;
    Failure failure;
    run.ended = program->run({x.view()}, host, results, failure);
    run.interrupted = !run.ended && failure.reason == Failure::Reason::Interrupted;
    return run;
  }

private:
  int64_t size;
  std::unique_ptr<Program> program;
};

constexpr int never = 1 << 30;

size_t count(const std::string &text, char wanted) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), wanted));
}

} // namespace

TEST(Interrupt, ProgramsStopBetweenLongKernels) {
  for (const char *target : {"cpu", "reference"})
    for (const std::string &source : {products(4, "160"), products(4, "?"), std::string(branches)}) {
      Stopping program(source, target, 160);
      StoppedRun whole = program.run(never);
      size_t received = count(whole.events, 'r');
      EXPECT_TRUE(whole.ended);
      EXPECT_GE(received, 3);
      // No two kernels without a poll between them.
      EXPECT_EQ(whole.events.find("rr"), std::string::npos);
      EXPECT_EQ(whole.events.substr(0, 1), "?");
      for (size_t stop = 0; stop < count(whole.events, '?'); ++stop) {
        StoppedRun run = program.run(static_cast<int>(stop));
        EXPECT_TRUE(run.interrupted);
        EXPECT_EQ(count(run.events, '?'), stop + 1);
        EXPECT_EQ(run.events.back(), '?');
        EXPECT_EQ(run.events, whole.events.substr(0, run.events.size()));
      }
    }
}

// A kernel of 48³ multiply-adds takes a few microseconds: a sequence of them polls, a single one does not.
TEST(Interrupt, ShortKernelsShareAPoll) {
  constexpr int kernels = 64;
  StoppedRun run = Stopping(products(kernels, "48"), "cpu", 48).run(never);
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(count(run.events, 'r'), kernels);
  EXPECT_EQ(run.events.find(std::string(20, 'r')), std::string::npos);
  EXPECT_GE(count(run.events, '?'), 3);
  EXPECT_LE(count(run.events, '?'), 8);
  EXPECT_EQ(count(Stopping(products(4, "48"), "cpu", 48).run(never).events, '?'), 0);
}

const std::string shortBody = R"(
    %2 = ad.mul %v, %x : tensor<2x2xf32>
    %3 = ad.add %2, %x : tensor<2x2xf32>
)";
const std::string shortHead = R"(
func.func @main(%x: tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
)";
const std::string countedLoop = shortHead + R"(
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<2x2xf32>) {)" +
                                shortBody + R"(
    scf.yield %3 : tensor<2x2xf32>
  }
  ad.receive "r"(%r) : tensor<2x2xf32>
  return
})";
const std::string conditionalLoop = shortHead + R"(
  %r:2 = scf.while (%v = %x, %i = %c0) : (tensor<2x2xf32>, index) -> (tensor<2x2xf32>, index) {
    %again = arith.cmpi slt, %i, %n : index
    scf.condition(%again) %v, %i : tensor<2x2xf32>, index
  } do {
  ^bb0(%v: tensor<2x2xf32>, %i: index):)" +
                                    shortBody + R"(
    %j = arith.addi %i, %c1 : index
    scf.yield %3, %j : tensor<2x2xf32>, index
  }
  ad.receive "r"(%r#0) : tensor<2x2xf32>
  return
})";

// Loops over few elements poll between strips of iterations: often enough to stop soon, and rarely.
TEST(Interrupt, ShortIterationsShareAPoll) {
  for (const std::string &source : {countedLoop, conditionalLoop}) {
    Stopping program(source, "cpu", 2);
    StoppedRun whole = program.run(never);
    size_t polls = count(whole.events, '?');
    EXPECT_TRUE(whole.ended);
    EXPECT_GE(polls, 100);
    EXPECT_LE(polls, 2000);
    for (size_t stop : {size_t(0), polls / 2, polls - 1})
      EXPECT_TRUE(program.run(static_cast<int>(stop)).interrupted);
  }
}

// A loop of few iterations inside a loop does not poll itself, whatever surrounds it.
TEST(Interrupt, InnerLoopsShareAPoll) {
  Stopping program(R"(
func.func @main(%x: tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 100000 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<2x2xf32>) {
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%w = %v) -> (tensor<2x2xf32>) {
      %2 = ad.mul %w, %x : tensor<2x2xf32>
      scf.yield %2 : tensor<2x2xf32>
    }
    scf.yield %s : tensor<2x2xf32>
  }
  ad.receive "r"(%r) : tensor<2x2xf32>
  return
})",
                   "cpu", 2);
  StoppedRun whole = program.run(never);
  EXPECT_TRUE(whole.ended);
  EXPECT_GE(count(whole.events, '?'), 10);
  EXPECT_LE(count(whole.events, '?'), 1000);
}

// The work of short loops is summed, and that of the last strip counts for the kernel after it.
TEST(Interrupt, WorkAddsUpAfterLoops) {
  const std::string head = R"(
func.func @main(%x: tensor<48x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = ad.slice %x [0, 0] strides [1, 1] : tensor<48x48xf32> -> tensor<2x2xf32>
)";
  // More than half of the work that may run between two polls.
  auto loop = [](const std::string &name, const std::string &trips, const std::string &start = "%s") {
    return "%n" + name + " = arith.constant " + trips + " : index\n%l" + name + " = scf.for %i = %c0 to %n" +
           name + " step %c1 iter_args(%v = " + start + R"() -> (tensor<2x2xf32>) {
    %2 = ad.mul %v, %s : tensor<2x2xf32>
    scf.yield %2 : tensor<2x2xf32>
  }
  ad.receive "r"(%l)" +
           name + ") : tensor<2x2xf32>\n";
  };
  std::string loops = head;
  for (int i = 0; i < 6; ++i)
    loops += loop(std::to_string(i), "5000", i == 0 ? "%s" : "%l" + std::to_string(i - 1));
  StoppedRun run = Stopping(loops + "return\n}\n", "cpu", 48).run(never);
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(count(run.events, 'r'), 6);
  EXPECT_EQ(run.events.find("rr"), std::string::npos);

  run = Stopping(head + loop("", "100000") + R"(
  %p = ad.dot %x, %x : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  ad.receive "r"(%p) : tensor<48x48xf32>
  return
})",
                 "cpu", 48)
            .run(never);
  ASSERT_TRUE(run.ended);
  ASSERT_NE(run.events.find('r'), std::string::npos);
  EXPECT_EQ(run.events.substr(run.events.find('r')), "r?r");
}

TEST(Interrupt, ProgramsForDevicesStopAtLaunches) {
  Stopping program(products(4, "16"), "gpu-sim", 16);
  StoppedRun whole = program.run(never);
  size_t polls = count(whole.events, '?');
  EXPECT_TRUE(whole.ended);
  EXPECT_GE(polls, 4);
  for (size_t stop = 0; stop < polls; ++stop)
    EXPECT_TRUE(program.run(static_cast<int>(stop)).interrupted);
}
