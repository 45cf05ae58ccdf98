/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The accumulator registers of `wgmma` in one thread, and the fences and groups that order accesses to them.
 */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_WGMMASTATE_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_WGMMASTATE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace adsim {

/// The accumulators of a chain of `wgmma`, which are written asynchronously. Groups and fences count from 1.
struct Accumulators {
  uint32_t number = 0; ///< given by the lowering
  uint32_t group = 0;  ///< wgmma-group of the last wgmma; 0: none
  uint32_t shape = 0;  ///< of the last wgmma
  uint32_t fence = 0;  ///< number of the wgmma.fence that precedes the last wgmma
  uint32_t accessFence =
      0; ///< number of the wgmma.fence that precedes the last access by another instruction
  uint32_t accessSite = ~0u;  ///< of that access
  uint32_t productSite = ~0u; ///< of the last wgmma
};

struct WgmmaState {
  uint32_t fences = 0;    ///< wgmma.fence executed
  uint32_t committed = 0; ///< groups committed
  uint32_t retired = 0;   ///< groups that are known to be complete
  std::vector<Accumulators> accumulators;

  void reset() {
    fences = committed = retired = 0;
    accumulators.clear();
  }
  void commit() { ++committed; }
  /// wgmma.wait_group: at most the last `count` groups are still in flight.
  void wait(uint32_t count) { retired = std::max(retired, committed - std::min(committed, count)); }
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_WGMMASTATE_H
