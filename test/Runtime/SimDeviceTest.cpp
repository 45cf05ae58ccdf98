// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the emulated GPU as a device of the runtime: its memory, its streams and the order of its threads.
#include "adjoint/Runtime/Sim/SimDevice.h"
#include "RacingKernel.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

static const adrt_site site = {"p.mlir:3:8", "ad.launch"};

TEST(SimDevice, CopiesAreLate) {
  std::unique_ptr<adrt::Device> device = adrt::makeSimDevice({});
  auto *host = static_cast<char *>(device->getStreams().allocateHost(4));
  auto *memory = static_cast<char *>(device->allocate(4));
  adrt::Outcome outcome;
  std::unique_ptr<adrt::Event> event = device->getStreams().makeEvent(outcome);
  std::memset(host, 7, 4);
  EXPECT_TRUE(device->getStreams().copyToDevice(memory, host, 4).ok());
  EXPECT_TRUE(device->getStreams().record(*event, adrt::StreamKind::HostToDevice).ok());
  char seen[4];
  // Too early.
  EXPECT_FALSE(device->getStreams().isComplete(*event));
  EXPECT_TRUE(device->read(seen, memory, 4).ok());
  EXPECT_EQ(seen[0], char(0xff));
  EXPECT_TRUE(device->getStreams().waitFor(adrt::StreamKind::Compute, *event).ok());
  EXPECT_TRUE(device->getStreams().isComplete(*event));
  EXPECT_TRUE(device->read(seen, memory, 4).ok());
  EXPECT_EQ(seen[3], 7);
  // A copy outside of the memory fails when the host waits for it.
  EXPECT_TRUE(device->getStreams().copyToHost(host, memory, 5).ok());
  EXPECT_TRUE(device->getStreams().record(*event, adrt::StreamKind::DeviceToHost).ok());
  EXPECT_FALSE(device->getStreams().wait(*event).ok());
  device->release(memory);
  device->getStreams().releaseHost(host);
}

TEST(SimDevice, SimMemoryHasEnds) {
  std::unique_ptr<adrt::Device> device = adrt::makeSimDevice({});
  auto *memory = static_cast<unsigned char *>(device->allocate(10));
  unsigned char bytes[16] = {};
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory[0], 0xff);
  EXPECT_EQ(memory[9], 0xff);
  EXPECT_TRUE(device->write(memory, bytes, 10).ok());
  EXPECT_TRUE(device->read(bytes, memory + 4, 6).ok());
  EXPECT_FALSE(device->write(memory, bytes, 11).ok());
  EXPECT_FALSE(device->read(bytes, memory + 5, 6).ok());
  EXPECT_FALSE(device->copy(memory, bytes, 4).ok());
  EXPECT_FALSE(device->fill(bytes, 0, 4).ok());
  EXPECT_TRUE(device->copy(memory, bytes, 0).ok());
  adrt_grid grid = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  EXPECT_FALSE(device->launch({&site, 0, grid}).ok());
  device->release(memory);
  EXPECT_FALSE(device->read(bytes, memory, 1).ok());
  EXPECT_EQ(device->allocate(-1), nullptr);
}

TEST(SimDevice, SimDescribesTiles) {
  std::unique_ptr<adrt::Device> device = adrt::makeSimDevice({});
  alignas(ADRT_TENSOR_MAP_ALIGNMENT) unsigned char map[ADRT_TENSOR_MAP_BYTES];
  void *memory = device->allocate(4 * 24 * 2);
  const int64_t shape[] = {4, 24}, narrow[] = {4, 20}, many[] = {1, 1, 1, 1, 1, 8};
  const uint32_t box[] = {2, 8, 1, 1, 1, 8}, wide[] = {2, 128};
  adrt_tensor tensor = {memory, shape, 2, ADRT_BF16};
  EXPECT_TRUE(device->describe(map, tensor, {box, 32}).ok());
  EXPECT_EQ(device->describe(map, tensor, {wide, 128}).message,
            ("internal error: no tensor map: rows of the box have 256 bytes, more than the swizzle of 128"));
  EXPECT_EQ(device->describe(map, tensor, {box, 32, /*tf32=*/true}).message,
            ("internal error: no tensor map: elements of 2 bytes, which are no tf32"));
  tensor.shape = narrow;
  EXPECT_EQ(device->describe(map, tensor, {box, 0}).message,
            ("internal error: no tensor map: axis 1 has a stride of 40 bytes, expected a multiple of 16 "
             "below 2^40"));
  tensor = {memory, many, 6, ADRT_BF16};
  EXPECT_EQ(device->describe(map, tensor, {box, 0}).message, "internal error: a tensor map of 6 axes");
  device->release(memory);
}

TEST(SimDevice, SimRunsAsAsked) {
  static const adsim::KernelCode code = unit::racingKernel();
  auto launch = [](adrt::Device &device, void *memory) {
    adrt_grid grid = {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0};
    void *arguments[] = {&memory};
    unit::threadsInOrder.clear();
    return device.launch({&site, 0, grid, arguments, /*bytes=*/nullptr, 1});
  };
  auto twoOrders = [&](adsim::Schedule schedule, uint64_t seed) {
    adrt::Emulation emulation;
    emulation.schedule = schedule;
    emulation.seed = seed;
    emulation.detectRaces = false;
    std::unique_ptr<adrt::Device> device = adrt::makeSimDevice({&code}, emulation);
    void *memory = device->allocate(4);
    EXPECT_TRUE(launch(*device, memory).ok());
    std::vector<uint32_t> first = unit::threadsInOrder;
    EXPECT_TRUE(launch(*device, memory).ok());
    EXPECT_EQ(unit::threadsInOrder.size(), 64);
    device->release(memory);
    return std::pair(first, unit::threadsInOrder);
  };
  auto eager = twoOrders(adsim::Schedule::Eager, 0), shuffled = twoOrders(adsim::Schedule::Shuffled, 3);
  EXPECT_TRUE(std::is_sorted(eager.first.begin(), eager.first.end()));
  EXPECT_EQ(eager.first, eager.second);
  EXPECT_FALSE(std::is_sorted(shuffled.first.begin(), shuffled.first.end()));
  EXPECT_NE(shuffled.first, shuffled.second);
  EXPECT_EQ(twoOrders(adsim::Schedule::Shuffled, 3), shuffled);
  EXPECT_NE(twoOrders(adsim::Schedule::Shuffled, 30), shuffled);
  // Launch n + 1 of a seed differs from launch n of the next seed.
  EXPECT_NE(twoOrders(adsim::Schedule::Shuffled, 4).first, shuffled.second);
  std::unique_ptr<adrt::Device> device = adrt::makeSimDevice({&code});
  void *memory = device->allocate(4);
  EXPECT_EQ(launch(*device, memory).message.find("race"), 0);
  device->release(memory);
}
