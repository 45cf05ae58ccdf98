/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Registers whose use has rules: those that wgmma sums in, and how many each warpgroup has. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_REGISTERS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_REGISTERS_H

#include <cstdint>
#include <vector>

namespace adsim {

struct Cta;
struct LaunchState;
struct Thread;

/// Accumulators of a thread, which wgmma uses while the thread goes on. Groups and fences count from 1.
struct Accumulators {
  uint32_t number = 0;        ///< that the lowering has given to them
  uint32_t group = 0;         ///< of the last wgmma; 0: none
  uint32_t shape = 0;         ///< of the last wgmma
  uint32_t fence = 0;         ///< the last one before the last wgmma
  uint32_t accessFence = 0;   ///< the last one before the last access by another instruction
  uint32_t accessSite = ~0u;  ///< where that was
  uint32_t productSite = ~0u; ///< where the last wgmma was
};

/// What a thread knows of its own accumulators.
struct WgmmaState {
  uint32_t fences = 0;    ///< wgmma.fence that the thread has run
  uint32_t committed = 0; ///< groups that are closed
  uint32_t retired = 0;   ///< groups that are complete
  std::vector<Accumulators> accumulators;

  void reset() {
    fences = committed = retired = 0;
    accumulators.clear();
  }
  void commit() { ++committed; }
  void wait(uint32_t count);
};

/// Before a wgmma of `shape` (any number that tells shapes apart): whether a wgmma.fence stands behind the
/// last access of another instruction to these accumulators, or behind a wgmma of another shape. False after
/// a failure.
bool useAccumulators(Thread &self, uint32_t number, uint32_t shape, uint32_t site);

/// Registers of a thread when the kernel starts: those that the kernel asks for, else as many as a CTA of
/// this size can have.
uint32_t launchRegisters(const LaunchState &state);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_REGISTERS_H
