// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of graph replay: the underlying device logs its commands, which must equal those of the program.
#include "LoggingDevice.h"

#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

using namespace adrt;

TEST(Replay, IterationsAreReplayed) {
  Fixture f;
  for (int iteration = 0; iteration < 5; ++iteration) {
    EXPECT_TRUE(f.launch(0, 7).ok());
    EXPECT_TRUE(f.device->copy(nullptr, nullptr, 8).ok());
    EXPECT_TRUE(f.launch(1, 8).ok());
    EXPECT_TRUE(f.done().empty());
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_EQ(f.done(), "k0(7)x1 c8 k1(8)x1 ");
  }
  EXPECT_TRUE(f.has(1, 4, 0));
  EXPECT_TRUE(f.warnings.empty());
}

TEST(Replay, BuffersAlternate) {
  Fixture f;
  for (int iteration = 0; iteration < 6; ++iteration) {
    f.launch(0, iteration % 2);
    f.launch(1, 5);
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_EQ(f.done(), "k0(" + std::to_string(iteration % 2) + ")x1 k1(5)x1 ");
  }
  EXPECT_TRUE(f.has(2, 5, 0));
}

TEST(Replay, ArgumentsAndGridsChange) {
  Fixture f;
  for (int iteration = 0; iteration < 6; ++iteration) {
    f.launch(0, iteration, static_cast<uint32_t>(iteration + 1));
    f.launch(1, 5);
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_EQ(f.done(),
              "k0(" + std::to_string(iteration) + ")x" + std::to_string(iteration + 1) + " k1(5)x1 ");
  }
  EXPECT_TRUE(f.has(2, 5, 3));
}

TEST(Replay, SingleCommandsAndNoneAreNoGraphs) {
  Fixture f;
  for (int iteration = 0; iteration < 3; ++iteration) {
    f.launch(0, 1);
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_EQ(f.done(), "k0(1)x1 ");
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_TRUE(f.device->copy(nullptr, nullptr, 0).ok());
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_TRUE(f.done().empty());
  }
  EXPECT_TRUE(f.has(0, 0, 0));
}

// Copies are never updated: they are part of the shape.
TEST(Replay, OtherCopiesAreOtherShapes) {
  Fixture f;
  for (int64_t bytes : {8, 8, 16, 16, 8})
    for (bool isEnd : {false, true}) {
      if (isEnd) {
        EXPECT_TRUE(f.device->submit().ok());
        continue;
      }
      EXPECT_TRUE(f.launch(0, 1).ok());
      EXPECT_TRUE(f.device->copy(nullptr, nullptr, bytes).ok());
    }
  EXPECT_EQ(f.done(), "k0(1)x1 c8 k0(1)x1 c8 k0(1)x1 c16 k0(1)x1 c16 k0(1)x1 c8 ");
  EXPECT_TRUE(f.has(2, 3, 0));
}

// Calls that depend on deferred commands are executed after them.
TEST(Replay, CallsComeAfterPendingCommands) {
  Outcome outcome;
  Fixture f;
  std::unique_ptr<Event> event = f.device->getStreams().makeEvent(outcome);
  std::function<void()> requests[] = {[&] { f.device->write(nullptr, nullptr, 1); },
                                      [&] { f.device->read(nullptr, nullptr, 1); },
                                      [&] { f.device->fill(nullptr, 0, 1); },
                                      [&] { f.device->getStreams().record(*event, StreamKind::Compute); },
                                      [&] { f.device->getStreams().waitFor(StreamKind::Compute, *event); },
                                      [&] { f.device->release(nullptr); },
                                      [&] { f.device->synchronize(); }};
  const char *names[] = {"write ", "read ", "fill ", "record ", "waitFor ", "release ", "synchronize "};
  for (size_t index = 0; index < std::size(names); ++index) {
    f.launch(0, 1);
    requests[index]();
    EXPECT_EQ(f.done(), std::string("k0(1)x1 ") + names[index]);
  }
}

TEST(Replay, FailuresWarnOnce) {
  for (bool refusesGraphs : {true, false}) {
    Fixture f;
    f.log.refusesGraphs = refusesGraphs;
    f.log.refusesUpdates = !refusesGraphs;
    std::string expected;
    for (int iteration = 0; iteration < 6; ++iteration) {
      f.launch(0, iteration);
      f.launch(1, 5);
      EXPECT_TRUE(f.device->submit().ok());
      expected += "k0(" + std::to_string(iteration) + ")x1 k1(5)x1 ";
    }
    EXPECT_EQ(f.done(), expected);
    EXPECT_EQ(f.warnings, std::string("p.mlir:2:1: kernels are launched one by one: no ") +
                              (refusesGraphs ? "graphs" : "updates") + " today\n");
  }
}

TEST(Replay, DevicesMayHaveNoGraphs) {
  Fixture f;
  f.log.hasGraphs = false;
  for (int iteration = 0; iteration < 3; ++iteration) {
    f.launch(0, 1);
    f.launch(1, 2);
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_EQ(f.done(), "k0(1)x1 k1(2)x1 ");
  }
  EXPECT_TRUE(f.has(0, 0, 0));
  EXPECT_TRUE(f.warnings.empty());
}

// An error names the launch and not the call that submitted it; no command follows it.
TEST(Replay, ErrorsNameTheLaunch) {
  Fixture f;
  for (int iteration = 0; iteration < 3; ++iteration) {
    f.log.failingKernel = iteration == 1 ? -1 : 1;
    f.launch(0, 1);
    f.launch(1, 2);
    f.launch(2, 3);
    Outcome outcome = f.device->read(nullptr, nullptr, 1);
    if (iteration == 1) {
      EXPECT_TRUE(outcome.ok());
      EXPECT_EQ(f.done(), "k0(1)x1 k1(2)x1 k2(3)x1 read ");
      continue;
    }
    EXPECT_EQ(outcome.message, "kernel 1 fails");
    EXPECT_EQ(outcome.site, &sites[1]);
    EXPECT_EQ(f.done(), "k0(1)x1 ");
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_TRUE(f.done().empty());
  }
  EXPECT_TRUE(f.has(1, 2, 0));
  // Freeing memory cannot fail: the next call returns the error.
  f.launch(1, 2);
  f.device->release(nullptr);
  EXPECT_EQ(f.device->synchronize().site, &sites[1]);
}

// Another loop with the same commands uses the graph of the first one; its errors name its own launches.
TEST(Replay, ErrorsNameTheCurrentSite) {
  Fixture f;
  for (int iteration = 0; iteration < 4; ++iteration) {
    const adrt_site &site = sites[iteration < 3 ? 0 : 2];
    f.log.failingKernel = iteration < 3 ? -1 : 1;
    EXPECT_TRUE(f.launchFrom(site, 0, 1).ok());
    EXPECT_TRUE(f.launchFrom(site, 1, 2).ok());
    Outcome outcome = f.device->submit();
    if (iteration < 3) {
      EXPECT_TRUE(outcome.ok()) << outcome.message;
      continue;
    }
    ASSERT_TRUE(outcome.site);
    EXPECT_STREQ(outcome.site->location, "p.mlir:3:1");
  }
  EXPECT_TRUE(f.has(1, 3, 0));
}

TEST(Replay, TensorMapsKeepTheirAlignment) {
  Fixture f;
  alignas(ADRT_TENSOR_MAP_ALIGNMENT) unsigned char map[ADRT_TENSOR_MAP_BYTES] = {9};
  int8_t small = 3;
  int64_t size = 4;
  void *arguments[] = {&small, map, &size, map};
  const int32_t bytes[] = {1, sizeof map, sizeof size, sizeof map};
  for (int iteration = 0; iteration < 3; ++iteration) {
    map[127] = static_cast<unsigned char>(iteration); // the last byte counts
    for (int32_t kernel : {0, 1})
      f.device->launch({&sites[0], kernel, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}, arguments, bytes, 4});
    EXPECT_TRUE(f.device->submit().ok());
    EXPECT_EQ(f.done(), "k0(3,9,4,9)x1 k1(3,9,4,9)x1 ");
  }
  EXPECT_TRUE(f.has(2, 2, 0));
}

/// Iterations of a random program from `seed`; results are equal with and without replays.
static std::string run(Device &device, LoggingDevice::Log &log, unsigned seed) {
  std::mt19937 draw(seed);
  auto below = [&](unsigned bound) { return static_cast<int64_t>(draw() % bound); };
  for (int iteration = 0; iteration < 400; ++iteration) {
    std::mt19937 kernels(static_cast<unsigned>(below(90))); // more shapes than are kept
    for (int64_t left = below(2) ? 6 : 2; left > 0; --left) {
      auto kernel = static_cast<int32_t>(kernels() % 3);
      int64_t argument = below(4) ? 1 : below(3);
      void *arguments[] = {&argument};
      const int32_t bytes[] = {sizeof argument};
      uint32_t blocks = below(8) ? 1 : 2;
      Outcome done =
          kernels() % 4
              ? device.launch(
                    {&sites[0], kernel, {{blocks, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}, arguments, bytes, 1})
              : device.copy(nullptr, nullptr, 8 * (1 + below(2)));
      EXPECT_TRUE(done.ok());
    }
    EXPECT_TRUE((below(3) ? device.submit() : device.read(nullptr, nullptr, 1)).ok());
  }
  EXPECT_TRUE(device.synchronize().ok());
  return std::exchange(log.done, "");
}

TEST(Replay, ReplaysEqualTheProgram) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Fixture f;
    LoggingDevice::Log log;
    LoggingDevice direct(log);
    EXPECT_EQ(run(*f.device, f.log, seed), run(direct, log, seed));
    GraphCounts counts = f.device->getGraphCounts();
    EXPECT_GT(counts.instantiated, 40);
    EXPECT_GT(counts.launched, counts.instantiated);
    EXPECT_GT(counts.updated, 20);
  }
}

TEST(Replay, LongSequencesAreSubmitted) {
  Fixture f;
  for (int number = 0; number < 1023; ++number)
    f.launch(0, 1);
  EXPECT_TRUE(f.done().empty());
  f.launch(0, 1);
  EXPECT_EQ(f.done().size(), 1024 * std::strlen("k0(1)x1 "));
}
