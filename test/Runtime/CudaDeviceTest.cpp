// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The CUDA device makes its context current before it calls the driver: calls of a device may come from any
// thread. Every function of the device is called on a thread of its own, as the first call there. A fake
// driver counts the calls that it gets without a context.
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "Replay/CommandList.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <thread>

using namespace adrt;

namespace {

int callsWithoutContext() {
  void *library = dlopen(AD_FAKE_CUDA_LIBRARY, RTLD_NOW);
  return reinterpret_cast<int (*)()>(dlsym(library, "ad_fake_calls_without_context"))();
}

/// Calls the function on a thread without a current context, and fails if the driver got a call without one.
void onNewThread(const char *what, const std::function<void()> &call) {
  int before = callsWithoutContext();
  std::thread(call).join();
  EXPECT_EQ(callsWithoutContext(), before) << what << ": no context";
}

void succeeds(const char *what, const std::function<Outcome()> &call) {
  Outcome outcome;
  onNewThread(what, [&] { outcome = call(); });
  EXPECT_TRUE(outcome.ok()) << what << ": " << outcome.message;
}

std::unique_ptr<Device> makeDevice() {
  std::string problem;
  std::unique_ptr<Device> device;
  onNewThread("makeCudaDevice", [&] {
    device = makeCudaDevice(".target sm_80\n.visible .entry first()\n.visible .entry second()\n",
                            {"first", "second"}, problem);
  });
  EXPECT_NE(device, nullptr) << problem;
  return device;
}

class CudaDevice : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ADJOINT_LIBCUDA", AD_FAKE_CUDA_LIBRARY, /*replace=*/1); }
};

Launch launchOf(int32_t kernel, uint32_t shared = 0) {
  Launch launch;
  launch.kernel = kernel;
  for (int axis = 0; axis < 3; ++axis)
    launch.grid.blocks[axis] = launch.grid.threads[axis] = 1;
  launch.grid.shared_bytes = shared;
  return launch;
}

TEST_F(CudaDevice, MemoryFromAnyThread) {
  std::unique_ptr<Device> device = makeDevice();
  void *memory = nullptr, *other = nullptr, *pinned = nullptr;
  onNewThread("allocate", [&] { memory = device->allocate(16); });
  onNewThread("allocate", [&] { other = device->allocate(16); });
  onNewThread("allocateHost", [&] { pinned = device->getStreams().allocateHost(16); });
  EXPECT_TRUE(memory);
  EXPECT_TRUE(other);
  EXPECT_TRUE(pinned);
  if (!memory || !other || !pinned)
    return;
  char bytes[16] = "fifteen letters";
  char back[16] = {};
  succeeds("write", [&] { return device->write(memory, bytes, sizeof bytes); });
  succeeds("copy", [&] { return device->copy(other, memory, sizeof bytes); });
  succeeds("read", [&] { return device->read(back, other, sizeof back); });
  EXPECT_EQ(std::string(back), bytes);
  succeeds("fill", [&] { return device->fill(memory, 'x', 15); });
  succeeds("copyToHost", [&] { return device->getStreams().copyToHost(pinned, memory, sizeof bytes); });
  succeeds("copyToDevice", [&] { return device->getStreams().copyToDevice(other, pinned, sizeof bytes); });
  succeeds("read", [&] { return device->read(back, other, sizeof back); });
  EXPECT_EQ(std::string(back, sizeof back), std::string(15, 'x') + '\0');
  int64_t shape[] = {4, 4};
  uint32_t box[] = {4, 4};
  alignas(64) char map[128];
  succeeds("describe", [&] { return device->describe(map, {memory, shape, 2, ADRT_F32}, {box, 0}); });
  onNewThread("release", [&] { device->release(memory); });
  onNewThread("release", [&] { device->release(other); });
  onNewThread("releaseHost", [&] { device->getStreams().releaseHost(pinned); });
  onNewThread("~CudaDevice", [&] { device.reset(); });
}

TEST_F(CudaDevice, EventsFromAnyThread) {
  std::unique_ptr<Device> device = makeDevice();
  std::unique_ptr<Event> event;
  succeeds("makeEvent", [&] {
    Outcome outcome;
    event = device->getStreams().makeEvent(outcome);
    return outcome;
  });
  succeeds("record", [&] { return device->getStreams().record(*event, StreamKind::Compute); });
  succeeds("waitFor", [&] { return device->getStreams().waitFor(StreamKind::DeviceToHost, *event); });
  succeeds("wait", [&] { return device->getStreams().wait(*event); });
  onNewThread("isComplete", [&] { device->getStreams().isComplete(*event); });
  succeeds("synchronize", [&] { return device->synchronize(); });
  onNewThread("~Event", [&] { event.reset(); });
}

TEST_F(CudaDevice, LaunchesFromAnyThread) {
  std::unique_ptr<Device> device = makeDevice();
  succeeds("launch", [&] { return device->launch(launchOf(0)); });
  succeeds("launch with shared memory", [&] { return device->launch(launchOf(1, 1 << 16)); });
  CommandList commands, others;
  for (uint32_t blocks : {1u, 2u}) {
    Launch launch = launchOf(0);
    launch.grid.blocks[0] = blocks;
    (blocks == 1 ? commands : others).add(launch);
  }
  std::unique_ptr<Graph> graph;
  succeeds("instantiate", [&] {
    Outcome outcome;
    graph = device->getGraphs()->instantiate(commands, outcome);
    return outcome;
  });
  EXPECT_NE(graph, nullptr);
  if (!graph)
    return;
  succeeds("launch of a graph", [&] { return device->getGraphs()->launch(*graph, commands); });
  succeeds("update", [&] { return device->getGraphs()->update(*graph, others, 0); });
  onNewThread("~Graph", [&] { graph.reset(); });
}

} // namespace
