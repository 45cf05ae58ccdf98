// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A device that logs its commands, under one that replays graphs: the log must equal the program's commands.
#ifndef ADJOINT_TEST_RUNTIME_LOGGINGDEVICE_H
#define ADJOINT_TEST_RUNTIME_LOGGINGDEVICE_H

#include "../../lib/Runtime/Replay/CommandList.h"
#include "adjoint/Runtime/Replay/GraphReplayDevice.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace adrt {

inline const adrt_site sites[] = {
    {"p.mlir:1:1", "ad.launch"}, {"p.mlir:2:1", "ad.launch"}, {"p.mlir:3:1", "ad.launch"}};

struct LoggedGraph final : Graph {
  CommandList commands;
};

struct DeviceLog {
  std::string done;
  bool allBytes = false; ///< launches with each byte of grid and arguments
  bool hasGraphs = true, refusesGraphs = false, refusesUpdates = false;
  int failingKernel = -1;

  Outcome say(const char *text) {
    done += text;
    return {};
  }
};

class LoggingStreams final : public Streams {
public:
  explicit LoggingStreams(DeviceLog &log) : log(log) {}

  Outcome copyToDevice(void *, const void *, int64_t) override { return log.say("copyToDevice "); }
  Outcome copyToHost(void *, const void *, int64_t) override { return log.say("copyToHost "); }
  void *allocateHost(int64_t) override { return nullptr; }
  void releaseHost(void *) override {}
  std::unique_ptr<Event> makeEvent(Outcome &) override { return std::make_unique<Event>(); }
  Outcome record(Event &, StreamKind) override { return log.say("record "); }
  Outcome waitFor(StreamKind, Event &) override { return log.say("waitFor "); }
  Outcome wait(Event &) override { return log.say("wait "); }
  bool isComplete(Event &) override { return true; }

private:
  DeviceLog &log;
};

class LoggingGraphs final : public Graphs {
public:
  LoggingGraphs(DeviceLog &log, Device &device) : log(log), device(device) {}

  std::unique_ptr<Graph> instantiate(const CommandList &commands, Outcome &outcome) override {
    if (log.refusesGraphs)
      outcome = Outcome::failed("no graphs today");
    if (log.refusesGraphs || !log.hasGraphs)
      return nullptr;
    auto graph = std::make_unique<LoggedGraph>();
    graph->commands = commands;
    return graph;
  }
  Outcome update(Graph &graph, const CommandList &commands, size_t index) override {
    if (log.refusesUpdates)
      return Outcome::failed("no updates today");
    static_cast<LoggedGraph &>(graph).commands.updateAt(index, commands);
    return {};
  }
  Outcome launch(Graph &graph, const CommandList &requested) override {
    CommandList &commands = static_cast<LoggedGraph &>(graph).commands;
    commands.takeSites(requested);
    for (size_t index = 0; index < commands.size(); ++index)
      if (Outcome outcome = commands.issue(device, index); !outcome.ok())
        return outcome;
    return {};
  }

private:
  DeviceLog &log;
  Device &device;
};

/// Logs each command: `k1(5)x3` is kernel 1 with argument 5 and three blocks, `c8` a copy of 8 bytes.
class LoggingDevice final : public Device {
public:
  using Log = DeviceLog;
  explicit LoggingDevice(Log &log) : log(log) {}

  Outcome launch(const Launch &launch) override {
    if (launch.kernel == log.failingKernel)
      return Outcome::failed("kernel " + std::to_string(launch.kernel) + " fails");
    if (log.allBytes)
      return log.say(describeBytes(launch).c_str());
    log.done += "k" + std::to_string(launch.kernel) + "(";
    for (int32_t number = 0; number < launch.count; ++number) {
      int64_t value = 0;
      std::memcpy(&value, launch.arguments[number], std::min<size_t>(launch.bytes[number], sizeof value));
      log.done += (number ? "," : "") + std::to_string(value);
      bool isMap = launch.bytes[number] == ADRT_TENSOR_MAP_BYTES;
      EXPECT_TRUE(!isMap ||
                  reinterpret_cast<uintptr_t>(launch.arguments[number]) % ADRT_TENSOR_MAP_ALIGNMENT == 0);
    }
    log.done += ")x" + std::to_string(launch.grid.blocks[0]) + " ";
    return {};
  }
  Outcome copy(void *, const void *, int64_t bytes) override {
    log.done += "c" + std::to_string(bytes) + " ";
    return {};
  }
  void *allocate(int64_t) override { return nullptr; }
  void release(void *) override { log.done += "release "; }
  Outcome write(void *, const void *, int64_t) override { return log.say("write "); }
  Outcome read(void *, const void *, int64_t) override { return log.say("read "); }
  Outcome fill(void *, uint8_t, int64_t) override { return log.say("fill "); }
  Outcome describe(void *, const adrt_tensor &, const Tiles &) override { return {}; }
  int32_t smCount() const override { return 3; }
  Outcome synchronize() override { return log.say("synchronize "); }
  Streams &getStreams() override { return streams; }
  Graphs *getGraphs() override { return &graphs; }

  static std::string describeBytes(const Launch &launch) {
    std::string text = "k" + std::to_string(launch.kernel);
    auto append = [&](const void *data, size_t bytes) {
      text += ' ';
      for (size_t index = 0; index < bytes; ++index)
        for (int shift : {4, 0})
          text += "0123456789abcdef"[static_cast<const unsigned char *>(data)[index] >> shift & 15];
    };
    append(&launch.grid, sizeof launch.grid);
    for (int32_t number = 0; number < launch.count; ++number)
      append(launch.arguments[number], static_cast<size_t>(launch.bytes[number]));
    return text + "; ";
  }

private:
  Log &log;
  LoggingStreams streams{log};
  LoggingGraphs graphs{log, *this};
};

struct Fixture {
  LoggingDevice::Log log;
  std::string warnings;
  std::unique_ptr<Device> device = makeGraphReplayDevice(
      std::make_unique<LoggingDevice>(log), [this](const adrt_site *site, const std::string &message) {
        warnings += std::string(site ? site->location : "?") + ": " + message + "\n";
      });

  Outcome launch(int32_t kernel, int64_t argument, uint32_t blocks = 1) {
    return launchFrom(sites[kernel % 3], kernel, argument, blocks);
  }
  Outcome launchFrom(const adrt_site &site, int32_t kernel, int64_t argument, uint32_t blocks = 1) {
    void *arguments[] = {&argument};
    const int32_t bytes[] = {sizeof argument};
    return device->launch({&site, kernel, {{blocks, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}, arguments, bytes, 1});
  }
  /// The commands since the last call.
  std::string done() { return std::exchange(log.done, ""); }
  bool has(uint64_t instantiated, uint64_t launched, uint64_t updated) const {
    GraphCounts counts = device->getGraphCounts();
    return counts.instantiated == instantiated && counts.launched == launched && counts.updated == updated;
  }
};

} // namespace adrt

#endif // ADJOINT_TEST_RUNTIME_LOGGINGDEVICE_H
