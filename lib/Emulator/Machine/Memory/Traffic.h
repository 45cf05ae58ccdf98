/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Counts what warps ask of memory. The lanes of a warp run one after the other here, so the n-th execution of
   an instruction by each lane makes the n-th request of the warp. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_TRAFFIC_H
#define ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_TRAFFIC_H

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

namespace adsim {

struct Statistics;
struct KernelCode;

/// How many wavefronts of shared memory a request takes: each delivers one word of each of the 32 banks.
/// `addresses` are those of the lanes that take part.
uint32_t countWavefronts(const uint64_t *addresses, uint32_t lanes, uint32_t bytes);
/// How many sectors of 32 bytes a request touches.
uint32_t countSectors(const uint64_t *addresses, uint32_t lanes, uint32_t bytes);

class TrafficCounter {
public:
  void start(bool enable) { enabled = enable; }
  bool isEnabled() const { return enabled; }
  /// One lane's access; `warp` numbers the warps of the cluster, `lanes` those that its warp has.
  void add(uint32_t warp, uint32_t lane, uint32_t lanes, uint32_t site, uint64_t address, uint32_t bytes,
           bool shared);
  /// A request of a whole warp, as ldmatrix makes it.
  void addRequest(uint32_t site, bool shared, uint32_t units, uint32_t idealUnits);
  /// Closes what lanes have left open: the end of a cluster.
  void flush();
  void collect(Statistics &statistics, const KernelCode &code) const;
  void merge(const TrafficCounter &other);

private:
  struct Request {
    std::vector<std::pair<uint32_t, uint64_t>> lanes; ///< and the address of each
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

#endif // ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_TRAFFIC_H
