/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A launch. Launches that hardware would refuse are refused. Then workers take the clusters of the grid in
   order. */
#include "../State/Worker.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/Thread.h"

#include <algorithm>

using namespace adsim;

namespace {

constexpr uint32_t maxThreads = 1024, maxSharedBytes = 227 << 10, maxClusterCtas = 16;
constexpr uint64_t maxGrid = 0x7fffffff;

std::string text(const Dim3 &dim) {
  return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
}

bool fits(const uint32_t required[3], const Dim3 &given) {
  return !required[0] || (required[0] == given.x && required[1] == given.y && required[2] == given.z);
}

/// The reason why the shape of a launch is impossible, or an empty string.
std::string checkShape(const KernelCode &code, const Launch &launch, const Dim3 &cluster) {
  uint64_t threads = launch.block.count();
  uint32_t limit = code.maxThreads ? std::min(code.maxThreads, maxThreads) : maxThreads;
  if (!threads || threads > limit)
    return "blocks of " + text(launch.block) + " threads, the kernel allows 1 to " + std::to_string(limit);
  if (launch.block.z > 64)
    return "blocks of " + text(launch.block) + " threads, at most 64 fit along z";
  if (!fits(code.requiredBlock, launch.block))
    return "blocks of " + text(launch.block) + " threads, the kernel requires " +
           text({code.requiredBlock[0], code.requiredBlock[1], code.requiredBlock[2]});
  if (!launch.grid.count() || launch.grid.x > maxGrid || launch.grid.y > 65535 || launch.grid.z > 65535)
    return "a grid of " + text(launch.grid) + " blocks, expected 1 to 2147483647 x 65535 x 65535";
  if (!cluster.count() || cluster.count() > maxClusterCtas)
    return "clusters of " + text(cluster) + " blocks, expected 1 to 16";
  if (launch.grid.x % cluster.x || launch.grid.y % cluster.y || launch.grid.z % cluster.z)
    return "a grid of " + text(launch.grid) + " blocks does not consist of clusters of " + text(cluster);
  uint64_t shared = uint64_t(code.staticSharedBytes) + launch.dynamicSharedBytes;
  if (shared > maxSharedBytes)
    return std::to_string(shared) + " bytes of shared memory, at most " + std::to_string(maxSharedBytes) +
           " are there";
  return "";
}

std::vector<MemoryRange> sortedRanges(const KernelCode &code, const Launch &launch) {
  std::vector<MemoryRange> ranges = launch.memory;
  for (uint32_t i = 0; i < code.memoryCount; ++i)
    ranges.push_back({code.memory[i].base, code.memory[i].bytes, code.memory[i].writable != 0});
  std::sort(ranges.begin(), ranges.end(),
            [](const MemoryRange &a, const MemoryRange &b) { return std::less<>()(a.base, b.base); });
  return ranges;
}

Result invalidLaunch(const KernelCode &code, const std::string &why) {
  Result result;
  result.failure = Failure::InvalidLaunch;
  result.message = "invalid launch of kernel '" + std::string(code.name) + "': " + why;
  return result;
}

Result lackOfMemory(const LaunchState &state) {
  Result result;
  result.failure = Failure::LackOfMemory;
  result.message = "not enough memory for the stacks of " + std::to_string(state.clusterThreads) +
                   " threads of kernel '" + state.code.name + "'";
  return result;
}

void addStatistics(Statistics &sum, const Statistics &part) {
  static constexpr uint64_t Statistics::*counters[] = {
      &Statistics::threads,    &Statistics::switches,  &Statistics::barriers,      &Statistics::shuffles,
      &Statistics::loads,      &Statistics::stores,    &Statistics::atomics,       &Statistics::asyncCopies,
      &Statistics::bulkCopies, &Statistics::bulkBytes, &Statistics::mbarrierPolls, &Statistics::matrixLoads,
      &Statistics::mma,        &Statistics::wgmma,
  };
  for (auto counter : counters)
    sum.*counter += part.*counter;
}

Result runWorkers(LaunchState &state, unsigned count, Statistics *statistics) {
  std::vector<std::unique_ptr<Worker>> workers;
  while (workers.size() < count) {
    auto worker = std::make_unique<Worker>(state);
    if (!worker->prepare())
      break; // those that have memory do the work
    workers.push_back(std::move(worker));
  }
  if (workers.empty())
    return lackOfMemory(state);
  adrt::runOnThreads(static_cast<unsigned>(workers.size()), [&](unsigned number) {
    adrt::FloatingPointScope floatingPoint;
    workers[number]->run();
  });
  Result result;
  uint64_t first = ~uint64_t(0);
  TrafficCounter traffic;
  for (const auto &worker : workers) {
    if (statistics)
      addStatistics(*statistics, worker->statistics);
    traffic.merge(worker->traffic);
    if (!worker->result.ok() && worker->failedAt < first) {
      first = worker->failedAt;
      result = worker->result;
    }
  }
  if (statistics)
    traffic.collect(*statistics, state.code);
  return result;
}

} // namespace

Result adsim::launch(const KernelCode &code, void **arguments, const Launch &launch, Statistics *statistics) {
  Dim3 cluster = launch.cluster;
  if (code.cluster[0]) {
    if (cluster.count() != 1 && !fits(code.cluster, cluster))
      return invalidLaunch(code, "clusters of " + text(cluster) + " blocks, the kernel requires " +
                                     text({code.cluster[0], code.cluster[1], code.cluster[2]}));
    cluster = {code.cluster[0], code.cluster[1], code.cluster[2]};
  }
  std::string problem = checkShape(code, launch, cluster);
  if (!problem.empty())
    return invalidLaunch(code, problem);
  LaunchState state(code, arguments, launch);
  state.cluster = cluster;
  state.clusters = {launch.grid.x / cluster.x, launch.grid.y / cluster.y, launch.grid.z / cluster.z};
  state.blockThreads = static_cast<uint32_t>(launch.block.count());
  state.clusterThreads = state.blockThreads * static_cast<uint32_t>(cluster.count());
  state.sharedBytes = code.staticSharedBytes + launch.dynamicSharedBytes;
  state.ranges = sortedRanges(code, launch);
  if (statistics)
    *statistics = Statistics();
  // The race detector follows the whole grid in one order of events.
  uint64_t workers = launch.detectRaces ? 1 : std::max(1u, launch.hostThreads);
  return runWorkers(state, static_cast<unsigned>(std::min(workers, state.clusters.count())), statistics);
}
