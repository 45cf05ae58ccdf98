// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors that stay in device memory: the heap, and runs that take and leave tensors there.
#include "adjoint/Runtime/Host/DeviceHeap.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/Sim/SimDevice.h"
#include "gtest/gtest.h"

#include <cstring>
#include <utility>

using namespace adrt;

namespace {

const int64_t four[] = {4};
const float values[] = {1, 2, 3, 4};

/// Copies between host and device since the last call.
std::pair<uint64_t, uint64_t> moved() {
  static TransferCounts last;
  TransferCounts now = getTransferCounts(), before = std::exchange(last, now);
  return {now.toDevice - before.toDevice, now.toHost - before.toHost};
}

/// Two programs for the emulated GPU and their heap.
struct Fixture {
  std::shared_ptr<DeviceHeap> heap = std::make_shared<DeviceHeap>("gpu-sim", makeSharedSimMemory());
  adrt_context context, other;
  Outcome outcome;

  Fixture() {
    for (adrt_context *each : {&context, &other}) {
      each->setDevice(makeSimDevice({}));
      each->heap = heap;
      each->heapUser = heap->addUser();
      each->results.outputs.assign(1, {nullptr, nullptr, 0, 0, ADRT_DEVICE_MEMORY});
    }
  }
  std::shared_ptr<DeviceBlock> put() {
    auto block = heap->allocate(sizeof values, "a test", outcome);
    EXPECT_TRUE(heap->write(*block, values, sizeof values).ok());
    return block;
  }
  std::vector<float> get(const DeviceBlock &block) {
    std::vector<float> elements(4);
    EXPECT_TRUE(heap->read(elements.data(), block, sizeof values).ok());
    return elements;
  }
};

adrt_tensor describe(const DeviceBlock &block) {
  return {block.getData(), four, 1, ADRT_F32, ADRT_DEVICE_MEMORY};
}

/// A program whose result is a copy of its argument.
int32_t copyArgument(adrt_context &context, const adrt_tensor &argument, adrt_tensor &result) {
  return context.run([&]() -> int32_t {
    void *x = adrt_argument(&context, &argument, 0);
    void *y = x ? adrt_result(&context, &result, 0, ADRT_F32, 1, four) : nullptr;
    return y ? adrt_copy(&context, y, x, sizeof values) : context.getError().status;
  });
}

} // namespace

TEST(DeviceHeap, ResultsOfOneProgramAreArgumentsOfAnother) {
  Fixture f;
  std::shared_ptr<DeviceBlock> x = f.put();
  moved();
  adrt_tensor result = {};
  for (adrt_context *each : {&f.context, &f.other, &f.context}) {
    ASSERT_EQ(copyArgument(*each, describe(*x), result), ADRT_OK) << each->getError().message;
    EXPECT_EQ(result.memory, ADRT_DEVICE_MEMORY);
    std::shared_ptr<DeviceBlock> y = each->takeDeviceResult(0);
    ASSERT_TRUE(y);
    EXPECT_EQ(y->getData(), result.data);
    EXPECT_EQ(each->takeDeviceResult(0), nullptr);
    x = y;
  }
  EXPECT_EQ(moved(), std::make_pair(uint64_t(0), uint64_t(0)));
  EXPECT_EQ(f.get(*x), std::vector<float>(values, values + 4));
}

TEST(DeviceHeap, ResultsAlternateBetweenTwoAddresses) {
  Fixture f;
  std::shared_ptr<DeviceBlock> held = f.put();
  std::vector<void *> addresses;
  adrt_tensor result = {};
  for (int run = 0; run < 6; ++run) {
    ASSERT_EQ(copyArgument(f.context, describe(*held), result), ADRT_OK);
    addresses.push_back(result.data);
    held = f.context.takeDeviceResult(0);
  }
  for (size_t run = 3; run < addresses.size(); ++run)
    EXPECT_EQ(addresses[run], addresses[run - 2]);
  EXPECT_NE(addresses[4], addresses[5]);
}

TEST(DeviceHeap, MemoryThatOthersMayUseIsNotReused) {
  Fixture f;
  adrt_tensor result = {};
  ASSERT_EQ(copyArgument(f.context, describe(*f.put()), result), ADRT_OK);
  f.context.takeDeviceResult(0)->lend();
  EXPECT_EQ(f.heap->getIdleBytes(), 0);
  ASSERT_EQ(copyArgument(f.context, describe(*f.put()), result), ADRT_OK);
  f.context.takeDeviceResult(0);
  EXPECT_EQ(f.heap->getIdleBytes(), int64_t(sizeof values));
  EXPECT_EQ(f.heap->getUsedBytes(), 0);
  f.heap->removeUser(f.context.heapUser);
  EXPECT_EQ(f.heap->getIdleBytes(), 0);
}

TEST(DeviceHeap, MuchLargerBlocksAreNotReused) {
  Fixture f;
  HeapUse use{f.context.heapUser, 3};
  f.heap->allocate(1 << 20, "a test", f.outcome, use);
  EXPECT_EQ(f.heap->allocate(1 << 19, "a test", f.outcome, use)->getBytes(), 1 << 20);
  EXPECT_EQ(f.heap->allocate(1 << 18, "a test", f.outcome, use)->getBytes(), 1 << 18);
  EXPECT_EQ(f.heap->allocate(1 << 19, "a test", f.outcome, use)->getBytes(), 1 << 19);
}

TEST(DeviceHeap, FailedRunsKeepNothing) {
  Fixture f;
  auto x = f.put();
  adrt_tensor result = {};
  int32_t status = f.context.run([&] {
    EXPECT_TRUE(adrt_result(&f.context, &result, 0, ADRT_F32, 1, four));
    EXPECT_TRUE(adrt_result(&f.context, &result, 0, ADRT_F32, 1, four)); // it may still be written
    EXPECT_EQ(f.heap->getUsedBytes(), int64_t(3 * sizeof values));
    return f.context.fail(ADRT_PROGRAM_ERROR, nullptr, "wrong");
  });
  EXPECT_EQ(status, ADRT_PROGRAM_ERROR);
  EXPECT_EQ(f.context.takeDeviceResult(0), nullptr);
  EXPECT_EQ(f.heap->getUsedBytes(), int64_t(sizeof values));
}

TEST(DeviceHeap, DonatedArgumentsStayOrAreReadOnce) {
  Fixture f;
  float host[] = {1, 2, 3, 4};
  auto block = f.put();
  for (const adrt_tensor &argument :
       {adrt_tensor{host, four, 1, ADRT_F32, ADRT_HOST_MEMORY}, describe(*block)}) {
    moved();
    adrt_tensor result = {};
    int32_t status = f.context.run([&]() -> int32_t {
      auto *x = static_cast<float *>(adrt_argument(&f.context, &argument, 0));
      EXPECT_EQ(adrt_copy(&f.context, x, x + 2, 2 * sizeof(float)), ADRT_OK);
      return adrt_donated_result(&f.context, &result, 0, &argument, x, four);
    });
    EXPECT_EQ(status, ADRT_OK);
    EXPECT_EQ(result.data, argument.data);
    EXPECT_EQ(result.memory, argument.memory);
    uint64_t copies = argument.memory == ADRT_HOST_MEMORY;
    EXPECT_EQ(moved(), std::make_pair(copies, copies));
  }
  EXPECT_EQ(host[0], 3);
  EXPECT_EQ(f.get(*block), (std::vector<float>{3, 4, 3, 4}));
}

TEST(DeviceHeap, WrongMemoryIsRefused) {
  Fixture f;
  auto block = f.put();
  adrt_tensor result = {}, astray = describe(*block), freed = astray, host = astray, later = astray;
  auto refused = [&](const adrt_tensor &argument, const std::string &reason) {
    EXPECT_EQ(copyArgument(f.context, argument, result), ADRT_HOST_ERROR);
    EXPECT_EQ(f.context.getError().message, "argument 0 in device memory: " + reason);
  };
  const std::string elsewhere = "it is not in the memory of the emulated GPU";
  float values[4];
  host.data = values;
  refused(host, elsewhere);
  later.data = static_cast<char *>(astray.data) + 4; // the last element is outside
  refused(later, elsewhere);
  auto large = f.heap->allocate(256, "a test", f.outcome);
  later.data = static_cast<char *>(large->getData()) + 16;
  refused(later, "it does not begin at a multiple of 64 bytes");
  block = nullptr;
  refused(freed, elsewhere);
  // Memory of another program that is not shared.
  f.other.run([&] { return adrt_arena(&f.other, 64) ? (host.data = adrt_arena(&f.other, 64), ADRT_OK) : 1; });
  refused(host, elsewhere);
}

TEST(DeviceHeap, SharedMemoryIsReleasedByItsOwner) {
  Fixture f;
  auto block = f.put();
  int released = 0;
  auto adopted = f.heap->adopt(block->getData(), sizeof values, [&] { ++released; }, f.outcome);
  ASSERT_TRUE(adopted);
  EXPECT_EQ(f.get(*adopted)[2], 3);
  adopted = nullptr;
  EXPECT_EQ(released, 1);
  char outside[64];
  EXPECT_EQ(f.heap->adopt(outside, 64, [&] { ++released; }, f.outcome), nullptr);
  EXPECT_EQ(f.outcome.message, "it is not in the memory of the emulated GPU");
  EXPECT_EQ(released, 1);
  EXPECT_EQ(f.heap->allocate(-1, "a test", f.outcome), nullptr);
  EXPECT_NE(f.outcome.message.find("a test of unrepresentable size"), std::string::npos);
}

/// Has a fixed number of bytes.
class SmallDevice final : public Device {
public:
  explicit SmallDevice(int64_t bytes) : left(bytes) {}
  void *allocate(int64_t bytes) override {
    if (bytes > left)
      return nullptr;
    left -= bytes;
    void *memory = sim->allocate(bytes);
    sizes[memory] = bytes;
    return memory;
  }
  void release(void *memory) override {
    left += sizes[memory];
    sim->release(memory);
  }
  MemoryCount countMemory() const override { return {left, 100}; }
  Outcome write(void *, const void *, int64_t) override { return {}; }
  Outcome read(void *, const void *, int64_t) override { return {}; }
  Outcome copy(void *, const void *, int64_t) override { return {}; }
  Outcome fill(void *, uint8_t, int64_t) override { return {}; }
  Outcome describe(void *, const adrt_tensor &, const Tiles &) override { return {}; }
  Outcome launch(const Launch &) override { return {}; }
  int32_t smCount() const override { return 1; }
  Outcome synchronize() override { return {}; }
  Streams &getStreams() override { return sim->getStreams(); }

private:
  int64_t left;
  std::map<void *, int64_t> sizes;
  std::unique_ptr<Device> sim = makeSimDevice({});
};

TEST(DeviceHeap, IdleMemoryIsFreedBeforeThereIsTooLittle) {
  auto heap = std::make_shared<DeviceHeap>("small", std::make_unique<SmallDevice>(100));
  Outcome outcome;
  HeapUse use{heap->addUser(), 0};
  heap->allocate(60, "a result", outcome, use); // freed again, and kept
  EXPECT_EQ(heap->getIdleBytes(), 60);
  auto large = heap->allocate(80, "a result", outcome);
  ASSERT_TRUE(large);
  EXPECT_EQ(heap->getIdleBytes(), 0);
  EXPECT_EQ(heap->allocate(30, "a result", outcome), nullptr);
  EXPECT_EQ(outcome.message,
            "the device has not enough memory for a result of 30 bytes: 20 of 100 bytes are free");
}
