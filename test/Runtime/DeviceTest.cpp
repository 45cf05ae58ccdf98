// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of programs for a device, as compiled code calls the runtime, and of the emulated GPU's memory.
#include "adjoint/Runtime/Context.h"
#include "adjoint/Runtime/SimDevice.h"

#include <cstdio>
#include <cstring>
#include <set>

static int failures = 0;

static void expect(bool condition, const char *text, int line) {
  if (condition)
    return;
  ++failures;
  std::fprintf(stderr, "DeviceTest.cpp:%d: %s\n", line, text);
}

#define EXPECT(CONDITION) expect(CONDITION, #CONDITION, __LINE__)

namespace {

/// The emulated GPU, which counts what it is asked for and knows what it has given.
class CountingDevice final : public adrt::Device {
public:
  ~CountingDevice() override { EXPECT(given.empty()); }

  void *allocate(int64_t bytes) override {
    void *memory = bytes > limit ? nullptr : sim->allocate(bytes);
    if (memory)
      given.insert(memory);
    return memory;
  }
  void release(void *memory) override {
    EXPECT(given.erase(memory) == 1);
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
  adrt::Outcome describe(void *map, const adrt_tensor &tensor, const uint32_t *box,
                         uint32_t swizzleBytes) override {
    return sim->describe(map, tensor, box, swizzleBytes);
  }
  adrt::Outcome launch(int32_t kernel, const adrt_grid &, void *const *, int32_t) override {
    return {ADRT_PROGRAM_ERROR, "kernel " + std::to_string(kernel) + " fails", "k.mlir:1:2"};
  }
  adrt::Outcome synchronize() override { return {}; }

  int64_t limit = INT64_MAX;
  int writes = 0;

private:
  std::unique_ptr<adrt::Device> sim = adrt::makeSimDevice({}, 1);
  std::set<void *> given;
};

struct Fixture {
  std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();
  adrt_context context;
  Fixture() { context.setDevice(device); }
};

} // namespace

static const adrt_site site = {"p.mlir:3:8", "ad.launch"};
static const int64_t four[] = {4};

static void tensorsCrossAndComeBack() {
  Fixture f;
  float data[] = {1, 2, 3, 4};
  adrt_tensor argument = {data, four, 1, ADRT_F32}, result = {};
  for (int run = 0; run < 2; ++run) {
    int32_t status = f.context.run([&]() -> int32_t {
      void *x = adrt_argument(&f.context, &argument, 0);
      void *y = adrt_result(&f.context, &result, 0, ADRT_F32, 1, four);
      EXPECT(x && y && x != data && y != result.data);
      return adrt_copy(&f.context, y, x, sizeof data);
    });
    EXPECT(status == ADRT_OK && std::memcmp(result.data, data, sizeof data) == 0);
    data[0] = 5;
  }
  f.context.setDevice(nullptr); // gives all memory back
}

static void constantsAreBroughtOncePerRun() {
  Fixture f;
  static const float data[] = {1, 2};
  for (int run = 1; run <= 2; ++run) {
    f.context.run([&] {
      void *first = adrt_constant(&f.context, data, sizeof data);
      EXPECT(first && first == adrt_constant(&f.context, data, sizeof data));
      return ADRT_OK;
    });
    EXPECT(f.device->writes == run);
  }
}

static void hostSeesCopies() {
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
    adrt_tensor x = {adrt_buffer(&f.context, 1, 16), four, 1, ADRT_F32};
    EXPECT(adrt_feed(&f.context, &site, "x", &x) == ADRT_OK);
    EXPECT(adrt_receive(&f.context, &site, "y", &x, 1) == ADRT_OK);
    EXPECT(adrt_check(&f.context, &site, ADRT_CHECK_FINITE, 0, 0, &x, nullptr) == ADRT_OK);
    EXPECT(adrt_check(&f.context, &site, ADRT_CHECK_EQUAL, 0, 0, &x, &x) == ADRT_OK);
    float last = 0;
    EXPECT(adrt_read(&f.context, &last, static_cast<float *>(x.data) + 3, sizeof last) == ADRT_OK &&
           last == 3);
    return ADRT_OK;
  });
  EXPECT(status == ADRT_OK && seen == 3);
}

static void memoryRunsOutCleanly() {
  Fixture f;
  f.device->limit = 100;
  int32_t status = f.context.run([&]() -> int32_t {
    EXPECT(adrt_arena(&f.context, 100) != nullptr);
    EXPECT(adrt_buffer(&f.context, 1, 101) == nullptr);
    return f.context.getError().status;
  });
  EXPECT(status == ADRT_HOST_ERROR &&
         f.context.getError().message == "the device has not enough memory for a buffer of 101 bytes");
}

static void kernelsFailAtTheirPlace() {
  Fixture f;
  adrt_grid grid = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  int32_t status =
      f.context.run([&] { return adrt_launch(&f.context, &site, 7, &grid, /*arguments=*/nullptr, 0); });
  EXPECT(status == ADRT_PROGRAM_ERROR && f.context.getError().message == "kernel 7 fails" &&
         f.context.getError().location == "k.mlir:1:2");
}

static void withoutADeviceNothingRuns() {
  adrt_context context;
  char bytes[4];
  EXPECT(adrt_constant(&context, bytes, 4) == nullptr);
  EXPECT(adrt_read(&context, bytes, bytes, 4) == ADRT_HOST_ERROR);
  EXPECT(context.getError().message == "the program was compiled for a device, and there is none");
}

static void simDescribesTiles() {
  std::unique_ptr<adrt::Device> device = adrt::makeSimDevice({}, 1);
  alignas(ADRT_TENSOR_MAP_ALIGNMENT) unsigned char map[ADRT_TENSOR_MAP_BYTES];
  void *memory = device->allocate(4 * 24 * 2);
  const int64_t shape[] = {4, 24}, narrow[] = {4, 20}, many[] = {1, 1, 1, 1, 1, 8};
  const uint32_t box[] = {2, 8, 1, 1, 1, 8}, wide[] = {2, 128};
  adrt_tensor tensor = {memory, shape, 2, ADRT_BF16};
  EXPECT(device->describe(map, tensor, box, 32).ok());
  EXPECT(device->describe(map, tensor, wide, 128).message ==
         "internal error: no tensor map: rows of the box have 256 bytes, more than the swizzle of 128");
  tensor.shape = narrow;
  EXPECT(
      device->describe(map, tensor, box, 0).message ==
      "internal error: no tensor map: axis 1 has a stride of 40 bytes, expected a multiple of 16 below 2^40");
  tensor = {memory, many, 6, ADRT_BF16};
  EXPECT(device->describe(map, tensor, box, 0).message == "internal error: a tensor map of 6 axes");
  device->release(memory);
}

static void simMemoryHasEnds() {
  std::unique_ptr<adrt::Device> device = adrt::makeSimDevice({}, 1);
  auto *memory = static_cast<unsigned char *>(device->allocate(10));
  unsigned char bytes[16] = {};
  EXPECT(memory && memory[0] == 0xff && memory[9] == 0xff);
  EXPECT(device->write(memory, bytes, 10).ok() && device->read(bytes, memory + 4, 6).ok());
  EXPECT(!device->write(memory, bytes, 11).ok() && !device->read(bytes, memory + 5, 6).ok());
  EXPECT(!device->copy(memory, bytes, 4).ok() && !device->fill(bytes, 0, 4).ok());
  EXPECT(device->copy(memory, bytes, 0).ok());
  adrt_grid grid = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  EXPECT(!device->launch(0, grid, nullptr, 0).ok());
  device->release(memory);
  EXPECT(!device->read(bytes, memory, 1).ok());
  EXPECT(device->allocate(-1) == nullptr);
}

int main() {
  void (*tests[])() = {
      tensorsCrossAndComeBack, constantsAreBroughtOncePerRun, hostSeesCopies,   memoryRunsOutCleanly,
      kernelsFailAtTheirPlace, withoutADeviceNothingRuns,     simMemoryHasEnds, simDescribesTiles};
  int run = 0, failed = 0;
  for (void (*test)() : tests) {
    int before = failures;
    test();
    ++run;
    failed += failures != before;
  }
  std::printf("adrt-device-unit: %d run, %d failed\n", run, failed);
  return failed ? 1 : 0;
}
