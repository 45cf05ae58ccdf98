// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of programs for a device, as compiled code calls the runtime.
#include "../../lib/Emulator/Abi.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/Sim/SimDevice.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// The streams of the emulated GPU, with the set of allocated host memory.
class CountingStreams final : public adrt::Streams {
public:
  CountingStreams(adrt::Streams &sim, std::set<void *> &given) : sim(sim), given(given) {}

  adrt::Outcome copyToDevice(void *target, const void *source, int64_t bytes) override {
    return sim.copyToDevice(target, source, bytes);
  }
  adrt::Outcome copyToHost(void *target, const void *source, int64_t bytes) override {
    return sim.copyToHost(target, source, bytes);
  }
  void *allocateHost(int64_t bytes) override {
    void *memory = sim.allocateHost(bytes);
    given.insert(memory);
    return memory;
  }
  void releaseHost(void *memory) override {
    EXPECT_EQ(given.erase(memory), 1);
    sim.releaseHost(memory);
  }
  std::unique_ptr<adrt::Event> makeEvent(adrt::Outcome &outcome) override { return sim.makeEvent(outcome); }
  adrt::Outcome record(adrt::Event &event, adrt::StreamKind stream) override {
    return sim.record(event, stream);
  }
  adrt::Outcome waitFor(adrt::StreamKind stream, adrt::Event &event) override {
    return sim.waitFor(stream, event);
  }
  adrt::Outcome wait(adrt::Event &event) override { return sim.wait(event); }
  bool isComplete(adrt::Event &event) override { return sim.isComplete(event); }

private:
  adrt::Streams &sim;
  std::set<void *> &given;
};

/// The emulated GPU, with counts of its calls and the set of allocated memory.
class CountingDevice final : public adrt::Device {
public:
  ~CountingDevice() override { EXPECT_TRUE(given.empty()); }

  void *allocate(int64_t bytes) override {
    void *memory = bytes > limit ? nullptr : sim->allocate(bytes);
    if (memory)
      given.insert(memory);
    return memory;
  }
  void release(void *memory) override {
    EXPECT_EQ(given.erase(memory), 1);
    sim->release(memory);
  }
  adrt::Outcome write(void *target, const void *source, int64_t bytes) override {
    ++writes;
    return sim->write(target, source, bytes);
  }
  adrt::Outcome read(void *target, const void *source, int64_t bytes) override {
    return sim->read(target, source, bytes);
  }
  adrt::Outcome copy(void *target, const void *source, int64_t bytes) override {
    return sim->copy(target, source, bytes);
  }
  adrt::Outcome fill(void *target, uint8_t value, int64_t bytes) override {
    return sim->fill(target, value, bytes);
  }
  adrt::Outcome describe(void *map, const adrt_tensor &tensor, const adrt::Tiles &tiles) override {
    ++descriptions;
    return sim->describe(map, tensor, tiles);
  }
  adrt::Outcome launch(const adrt::Launch &launch) override {
    return {ADRT_PROGRAM_ERROR, "kernel " + std::to_string(launch.kernel) + " fails", "k.mlir:1:2"};
  }
  int32_t smCount() const override { return 7; }
  adrt::Outcome synchronize() override { return {}; }
  adrt::Streams &getStreams() override { return streams; }

  int64_t limit = INT64_MAX;
  int writes = 0, descriptions = 0;

private:
  std::unique_ptr<adrt::Device> sim = adrt::makeSimDevice({});
  std::set<void *> given;
  CountingStreams streams{sim->getStreams(), given};
};

struct Fixture {
  std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();
  adrt_context context;
  Fixture() { context.setDevice(device); }
};

} // namespace

static const adrt_site site = {"p.mlir:3:8", "ad.launch"};
static const int64_t four[] = {4};

TEST(Device, TensorsCrossAndComeBack) {
  Fixture f;
  float data[] = {1, 2, 3, 4};
  adrt_tensor argument = {data, four, 1, ADRT_F32}, result = {};
  for (int run = 0; run < 2; ++run) {
    int32_t status = f.context.run([&]() -> int32_t {
      void *x = adrt_argument(&f.context, &argument, 0);
      void *y = adrt_result(&f.context, &result, 0, ADRT_F32, 1, four);
      EXPECT_TRUE(x);
      EXPECT_TRUE(y);
      EXPECT_NE(x, data);
      EXPECT_NE(y, result.data);
      return adrt_copy(&f.context, y, x, sizeof data);
    });
    EXPECT_EQ(status, ADRT_OK);
    EXPECT_EQ(std::memcmp(result.data, data, sizeof data), 0);
    data[0] = 5;
  }
  f.context.setDevice(nullptr); // gives all memory back
}

TEST(Device, ConstantsAreCopiedOnce) {
  Fixture f;
  static const float data[] = {1, 2};
  for (int run = 1; run <= 3; ++run) {
    f.context.run([&] {
      void *first = adrt_constant(&f.context, data, sizeof data);
      EXPECT_TRUE(first);
      EXPECT_EQ(first, adrt_constant(&f.context, data, sizeof data));
      return ADRT_OK;
    });
    EXPECT_EQ(f.device->writes, 1);
  }
  // Another program has another device, and may have other data at the same address.
  auto other = std::make_shared<CountingDevice>();
  f.context.setDevice(other);
  f.context.run([&] { return adrt_constant(&f.context, data, sizeof data) ? ADRT_OK : ADRT_HOST_ERROR; });
  EXPECT_EQ(other->writes, 1);
}

TEST(Device, HostSeesCopies) {
  Fixture f;
  f.context.feed = [](const char *, const adrt_tensor &destination, std::string &) {
    for (int i = 0; i < 4; ++i)
      static_cast<float *>(destination.data)[i] = i;
    return ADRT_OK;
  };
  float seen = 0;
  f.context.receive = [&](const char *, const adrt_tensor *values, int32_t count, std::string &) {
    seen = static_cast<const float *>(values[count - 1].data)[3];
    return ADRT_OK;
  };
  int32_t status = f.context.run([&]() -> int32_t {
    adrt_tensor x = {adrt_buffer(&f.context, 1, 16), four, 1, ADRT_F32, ADRT_DEVICE_MEMORY};
    EXPECT_EQ(adrt_feed(&f.context, &site, "x", &x), ADRT_OK);
    EXPECT_EQ(adrt_receive(&f.context, &site, "y", &x, 1), ADRT_OK);
    EXPECT_EQ(adrt_check(&f.context, &site, ADRT_CHECK_FINITE, 0, 0, &x, nullptr), ADRT_OK);
    EXPECT_EQ(adrt_check(&f.context, &site, ADRT_CHECK_EQUAL, 0, 0, &x, &x), ADRT_OK);
    float last = 0;
    EXPECT_EQ(adrt_read(&f.context, &last, static_cast<float *>(x.data) + 3, sizeof last), ADRT_OK);
    EXPECT_EQ(last, 3);
    return ADRT_OK;
  });
  EXPECT_EQ(status, ADRT_OK);
  EXPECT_EQ(seen, 3);
}

/// Runs a program that feeds a value and sends it back, `iterations` times. Returns the order of feeds and
/// receives. Without feedsAhead sizes grow, so that larger slots wait for the values in the smaller ones.
static std::string echo(bool feedsAhead, int iterations, int failingReceive = -1) {
  Fixture f;
  auto sizeOf = [&](int64_t iteration) { return feedsAhead ? 1000 : 1000 * (iteration + 1); };
  f.context.feedsAhead = feedsAhead;
  std::string events;
  int fed = 0, received = 0;
  f.context.feed = [&](const char *, const adrt_tensor &destination, std::string &) {
    auto *values = static_cast<float *>(destination.data);
    std::fill(values, values + destination.shape[0], 10.0f + fed);
    events += "f" + std::to_string(fed++) + " ";
    return ADRT_OK;
  };
  f.context.receive = [&](const char *, const adrt_tensor *values, int32_t, std::string &error) {
    if (received == failingReceive) {
      error = "no more";
      return ADRT_HOST_ERROR;
    }
    int64_t size = values[0].shape[0];
    const auto *elements = static_cast<const float *>(values[0].data);
    EXPECT_EQ(size, sizeOf(received));
    EXPECT_EQ(elements[0], 10.0f + received);
    EXPECT_EQ(elements[size - 1], 10.0f + received);
    events += "r" + std::to_string(received++) + " ";
    return ADRT_OK;
  };
  int32_t status = f.context.run([&]() -> int32_t {
    for (int64_t iteration = 0; iteration < iterations; ++iteration) {
      int64_t size = sizeOf(iteration);
      adrt_tensor x = {adrt_buffer(&f.context, 1, 4 * size), &size, 1, ADRT_F32};
      for (auto step : {+[](adrt_context *c, adrt_tensor *t) { return adrt_feed(c, &site, "x", t); },
                        +[](adrt_context *c, adrt_tensor *t) { return adrt_receive(c, &site, "x", t, 1); },
                        +[](adrt_context *c, adrt_tensor *) { return adrt_poll(c); }})
        if (int32_t failed = step(&f.context, &x); failed != ADRT_OK)
          return failed;
    }
    return ADRT_PROGRAM_ERROR; // what was sent before is the host's all the same
  });
  events += std::to_string(status);
  return status == ADRT_HOST_ERROR ? events + " " + f.context.getError().message : events;
}

TEST(Device, ReceivedValuesComeInOrder) {
  EXPECT_EQ(echo(/*feedsAhead=*/false, 3), "f0 r0 f1 r1 f2 r2 1");
  // Two values are in flight; the third one waits for the first.
  EXPECT_EQ(echo(/*feedsAhead=*/true, 4), "f0 f1 f2 r0 f3 r1 r2 r3 1");
  EXPECT_EQ(echo(/*feedsAhead=*/false, 4, /*failingReceive=*/1), "f0 r0 f1 5 receive 'x': no more");
  EXPECT_EQ(echo(/*feedsAhead=*/true, 4, /*failingReceive=*/0), "f0 f1 f2 5 receive 'x': no more");
}

TEST(Device, MemoryRunsOutCleanly) {
  Fixture f;
  f.device->limit = 100;
  int32_t status = f.context.run([&]() -> int32_t {
    EXPECT_NE(adrt_arena(&f.context, 100), nullptr);
    EXPECT_EQ(adrt_buffer(&f.context, 1, 101), nullptr);
    return f.context.getError().status;
  });
  EXPECT_EQ(status, ADRT_TARGET_ERROR);
  EXPECT_EQ(f.context.getError().message,
            "the device has not enough memory for an intermediate tensor of 101 bytes");
}

TEST(Device, KernelsFailAtTheirPlace) {
  Fixture f;
  adrt_grid grid = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  int32_t status = f.context.run(
      [&] { return adrt_launch(&f.context, &site, 7, &grid, /*arguments=*/nullptr, /*bytes=*/nullptr, 0); });
  EXPECT_EQ(status, ADRT_PROGRAM_ERROR);
  EXPECT_EQ(f.context.getError().message, "kernel 7 fails");
  EXPECT_EQ(f.context.getError().location, "k.mlir:1:2");
}

// Also before a launch that the device would defer.
TEST(Device, LaunchesCheckForInterrupts) {
  Fixture f;
  bool stop = false;
  f.context.interrupted = [&] { return stop; };
  adrt_grid grid = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  auto launch = [&] {
    return f.context.run([&] {
      return adrt_launch(&f.context, &site, 7, &grid, /*arguments=*/nullptr, /*bytes=*/nullptr, 0);
    });
  };
  EXPECT_EQ(launch(), ADRT_PROGRAM_ERROR); // the device's answer
  stop = true;
  EXPECT_EQ(launch(), ADRT_INTERRUPTED);
}

TEST(Device, StuckKernelsAreNamed) {
  // In a process of its own: it ends with the watchdog.
  pid_t child = fork();
  if (child == 0) {
    adsim::KernelCode code = {};
    code.name = "spin";
    code.entry = [](void **) {
      for (volatile int iterations = 0;; iterations = iterations + 1)
        ;
    };
    adrt_context context;
    context.setDevice(adrt::makeSimDevice({&code}));
    context.watchKernels(
        std::chrono::milliseconds(50), [](const std::string &kernel, const adrt_site &launched) {
          _exit(kernel == "spin" && std::strcmp(launched.location, site.location) == 0 ? 5 : 6);
        });
    adrt_grid grid = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
    context.run(
        [&] { return adrt_launch(&context, &site, 0, &grid, /*arguments=*/nullptr, /*bytes=*/nullptr, 0); });
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(Device, KernelsInTimeGoOn) {
  adsim::KernelCode code = {};
  code.name = "short";
  code.entry = [](void **) {};
  adrt_context context;
  context.setDevice(adrt::makeSimDevice({&code}));
  std::atomic<int> expired{0};
  context.watchKernels(std::chrono::seconds(60), [&](const std::string &, const adrt_site &) { ++expired; });
  adrt_grid grid = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  int32_t status = context.run([&] {
    int32_t last = ADRT_OK;
    for (int iteration = 0; iteration < 100 && last == ADRT_OK; ++iteration)
      last = adrt_launch(&context, &site, 0, &grid, /*arguments=*/nullptr, /*bytes=*/nullptr, 0);
    return last;
  });
  EXPECT_EQ(status, ADRT_OK);
  EXPECT_EQ(expired, 0);
}

TEST(Device, WithoutADeviceNothingRuns) {
  adrt_context context;
  char bytes[4];
  EXPECT_EQ(adrt_constant(&context, bytes, 4), nullptr);
  EXPECT_EQ(adrt_read(&context, bytes, bytes, 4), ADRT_TARGET_ERROR);
  EXPECT_EQ(adrt_sm_count(&context), 1);
  EXPECT_EQ(context.getError().message, "the program was compiled for a device, and there is none");
}

TEST(Device, TilesAreDescribedOnce) {
  Fixture f;
  alignas(ADRT_TENSOR_MAP_ALIGNMENT) unsigned char first[ADRT_TENSOR_MAP_BYTES], again[ADRT_TENSOR_MAP_BYTES];
  const int64_t shape[] = {4, 24}, shorter[] = {3, 24};
  const uint32_t box[] = {2, 8}, lower[] = {1, 8};
  f.context.run([&] {
    EXPECT_EQ(adrt_sm_count(&f.context), 7);
    auto *memory = static_cast<char *>(adrt_arena(&f.context, 4096));
    adrt_tensor tensor = {memory, shape, 2, ADRT_BF16};
    auto describe = [&](void *map, const uint32_t *tile, int32_t swizzle, int32_t tf32 = 0) {
      EXPECT_EQ(adrt_tensor_map(&f.context, &site, map, &tensor, tile, swizzle, tf32), ADRT_OK);
    };
    describe(first, box, 32);
    describe(again, box, 32);
    EXPECT_EQ(f.device->descriptions, 1);
    EXPECT_EQ(std::memcmp(first, again, sizeof first), 0);
    // Each change of an input of the encoding makes another tensor map.
    describe(again, lower, 32);
    describe(again, box, 0);
    tensor.shape = shorter;
    describe(again, box, 32);
    tensor.data = memory + 1024;
    describe(again, box, 32);
    tensor.type = ADRT_F16;
    describe(again, box, 32);
    tensor.type = ADRT_F32;
    describe(first, box, 32);
    describe(again, box, 32, /*tf32=*/1);
    EXPECT_EQ(f.device->descriptions, 8);
    EXPECT_NE(std::memcmp(first, again, sizeof first), 0);
    // A tensor map that cannot be encoded is not cached.
    tensor.data = memory + 8;
    for (int iteration = 0; iteration < 2; ++iteration)
      EXPECT_EQ(adrt_tensor_map(&f.context, &site, again, &tensor, box, 32, /*tf32=*/0), ADRT_TARGET_ERROR);
    EXPECT_EQ(f.device->descriptions, 10);
    return ADRT_OK;
  });
}
