/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Counts the memory requests of warps. The lanes of a warp run one after the other, so the n-th request of a
   warp consists of the n-th execution of the instruction by each lane. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_TRAFFIC_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_TRAFFIC_H

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

namespace adsim {

struct Statistics;
struct KernelCode;

/// The wavefronts of shared memory that a request needs: each wavefront delivers one word of each of the 32
/// banks. `addresses` are those of the participating lanes.
uint32_t countWavefronts(const uint64_t *addresses, uint32_t lanes, uint32_t bytes);
/// The number of 32-byte sectors that a request accesses.
uint32_t countSectors(const uint64_t *addresses, uint32_t lanes, uint32_t bytes);

class TrafficCounter {
public:
  void start(bool enable) { enabled = enable; }
  bool isEnabled() const { return enabled; }
  /// One lane's access. `warp` is the number of the warp in the cluster, and `lanes` is the number of its
  /// lanes.
  void add(uint32_t warp, uint32_t lane, uint32_t lanes, uint32_t site, uint64_t address, uint32_t bytes,
           bool shared);
  /// A request of a whole warp, such as that of ldmatrix.
  void addRequest(uint32_t site, bool shared, uint32_t units, uint32_t idealUnits);
  /// Closes the incomplete requests, at the end of a cluster.
  void flush();
  void collect(Statistics &statistics, const KernelCode &code) const;
  void merge(const TrafficCounter &other);

private:
  struct Request {
    std::vector<std::pair<uint32_t, uint64_t>> lanes; ///< with their addresses
    uint32_t bytes = 0;
    bool shared = false;
  };
  struct Stream {
    uint32_t executed[32] = {};
    uint32_t first = 0; ///< number of the first open request
    std::deque<Request> open;
  };
  struct Total {
    uint64_t requests = 0, units = 0, idealUnits = 0;
  };
  void close(uint32_t site, const Request &request);
  bool enabled = false;
  std::unordered_map<uint64_t, Stream> streams;
  std::map<std::pair<uint32_t, bool>, Total> totals;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_TRAFFIC_H
